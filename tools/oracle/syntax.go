package main

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"text/template/parse"

	"oracle/scheduler"
)

// syntax counts the parts of a template's text.
type syntax struct {
	Nodes     map[string]int `json:"nodes"`
	Functions map[string]int `json:"functions"`
	Formats   []string       `json:"formats"` // printf's, where they are constants
}

// nodeKinds are the kinds of nodes in Go's own tree, and those that the tree keeps in fields.
var nodeKinds = []string{
	"action", "assignment", "block", "bool", "break", "chain", "command", "comment", "continue",
	"declaration", "define", "dot", "else", "elseIf", "elseWith", "field", "identifier", "if",
	"nil", "number", "parenthesis", "pipe", "range", "rangeOne", "rangeTwo", "string", "template",
	"text", "trimLeft", "trimRight", "variable", "with",
}

// The tree does not distinguish these: a block is a template call and a define, a trimmed text is a
// text.
var lexical = map[string]*regexp.Regexp{
	"block":     regexp.MustCompile(`\{\{(- )?\s*block\b`),
	"trimLeft":  regexp.MustCompile(`\{\{- `),
	"trimRight": regexp.MustCompile(`\s-\}\}`),
}

func describeSyntax(text string) ([]byte, error) {
	tree := parse.New("template")
	tree.Mode = parse.ParseComments | parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil, err
	}
	found := syntax{Nodes: map[string]int{}, Functions: map[string]int{}, Formats: []string{}}
	for name, part := range trees {
		found.walk(reflect.ValueOf(part.Root))
		if name != "template" {
			found.Nodes["define"]++
		}
	}
	for kind, pattern := range lexical {
		if count := len(pattern.FindAllString(text, -1)); count > 0 {
			found.Nodes[kind] = count
		}
	}
	slices.Sort(found.Formats)
	return json.Marshal(found)
}

// walk counts a node and the nodes in its fields: every node of text/template/parse is a pointer to
// a struct whose exported fields are its parts.
func (s *syntax) walk(value reflect.Value) {
	switch value.Kind() {
	case reflect.Interface:
		s.walk(value.Elem())
	case reflect.Slice:
		for i := range value.Len() {
			s.walk(value.Index(i))
		}
	case reflect.Pointer:
		if node, ok := value.Interface().(parse.Node); ok && !value.IsNil() {
			s.count(node)
			s.walk(value.Elem())
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				s.walk(value.Field(i))
			}
		}
	}
}

func (s *syntax) count(node parse.Node) {
	kind := strings.TrimSuffix(reflect.TypeOf(node).Elem().Name(), "Node")
	kind = strings.ToLower(kind[:1]) + kind[1:]
	if kind != "list" {
		s.Nodes[kind]++
	}
	switch node := node.(type) {
	case *parse.IdentifierNode:
		s.Functions[node.Ident]++
	case *parse.CommandNode:
		s.countCommand(node)
	case *parse.PipeNode:
		if len(node.Decl) > 0 && node.IsAssign {
			s.Nodes["assignment"]++
		} else if len(node.Decl) > 0 {
			s.Nodes["declaration"]++
		}
	case *parse.RangeNode:
		if variables := len(node.Pipe.Decl); variables > 0 {
			s.Nodes[[]string{"rangeOne", "rangeTwo"}[variables-1]]++
		}
		s.countElse(node.ElseList)
	case *parse.IfNode:
		s.countElse(node.ElseList)
	case *parse.WithNode:
		s.countElse(node.ElseList)
	}
}

func (s *syntax) countCommand(node *parse.CommandNode) {
	for _, argument := range node.Args {
		if _, ok := argument.(*parse.PipeNode); ok {
			s.Nodes["parenthesis"]++
		}
	}
	if len(node.Args) < 2 {
		return
	}
	function, isCall := node.Args[0].(*parse.IdentifierNode)
	format, isConstant := node.Args[1].(*parse.StringNode)
	if isCall && isConstant && function.Ident == "printf" {
		s.Formats = append(s.Formats, format.Text)
	}
}

// countElse does not distinguish {{else if}} from {{else}}{{if}}, because the tree does not.
func (s *syntax) countElse(list *parse.ListNode) {
	if list == nil {
		return
	}
	s.Nodes["else"]++
	if len(list.Nodes) == 1 {
		switch list.Nodes[0].(type) {
		case *parse.IfNode:
			s.Nodes["elseIf"]++
		case *parse.WithNode:
			s.Nodes["elseWith"]++
		}
	}
}

// describeLanguage names the items to cover.
func describeLanguage() ([]byte, error) {
	functions := scheduler.FunctionNames()
	sort.Strings(functions)
	return json.Marshal(map[string][]string{"nodes": nodeKinds, "functions": functions})
}
