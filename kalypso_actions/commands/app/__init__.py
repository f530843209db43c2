"""The commands of an application's repositories.

render     `kalypso app render`: the story
places     open the repositories
variables  the values of the ten variables
generate   start helm or another generator for each target
publish    write the tree to a folder, or commit it
"""
