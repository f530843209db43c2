"""Decryption of AES-256 (FIPS 197), the only cipher of sprig."""

from __future__ import annotations

BLOCK = 16
KEY = 32

_ROUNDS = 14


def _double(value: int) -> int:
    """Return twice `value` in the field of 256 elements."""
    value <<= 1
    return value ^ 0x11B if value & 0x100 else value


def _multiples(factor: int) -> bytes:
    """Return `factor` times every element of the field."""
    products = []
    for value in range(256):
        product = 0
        for bit in reversed(range(4)):
            product = _double(product)
            if factor >> bit & 1:
                product ^= value
        products.append(product)
    return bytes(products)


def _substitution() -> bytes:
    """Return the S-box: the inverse in the field, then an affine transformation of its bits."""
    box = bytearray(256)
    value = inverse = 1
    while True:
        # 3 generates the field; `value` and `inverse` stay inverse to one another.
        value ^= _double(value)
        for shift in (1, 2, 4):
            inverse ^= inverse << shift & 0xFF
        if inverse & 0x80:
            inverse ^= 0x09
        mixed = inverse
        for shift in (1, 2, 3, 4):
            mixed ^= (inverse << shift | inverse >> 8 - shift) & 0xFF
        box[value] = mixed ^ 0x63
        if value == 1:
            break
    box[0] = 0x63
    return bytes(box)


_BOX = _substitution()
_INVERSE_BOX = bytes(_BOX.index(value) for value in range(256))
_TIMES_9, _TIMES_11, _TIMES_13, _TIMES_14 = map(_multiples, (9, 11, 13, 14))
_INVERSE_SHIFT = [(row + 4 * (column - row)) % 16 for column in range(4) for row in range(4)]


def _round_keys(key: bytes) -> list[bytes]:
    words = [key[start : start + 4] for start in range(0, KEY, 4)]
    constant = 1
    while len(words) < 4 * (_ROUNDS + 1):
        word = words[-1]
        if len(words) % 8 == 0:
            word = (word[1:] + word[:1]).translate(_BOX)
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _double(constant)
        elif len(words) % 8 == 4:
            word = word.translate(_BOX)
        words.append(_xor(word, words[-8]))
    return [b"".join(words[start : start + 4]) for start in range(0, len(words), 4)]


def _xor(first: bytes, second: bytes) -> bytes:
    return bytes([a ^ b for a, b in zip(first, second, strict=True)])


def _decrypt_block(block: bytes, keys: list[bytes]) -> bytes:
    state = _xor(block, keys[-1])
    for key in reversed(keys[:-1]):
        shifted = bytes([state[position] for position in _INVERSE_SHIFT])
        state = _xor(shifted.translate(_INVERSE_BOX), key)
        if key is not keys[0]:
            state = b"".join(_unmixed(state[start : start + 4]) for start in range(0, BLOCK, 4))
    return state


def _unmixed(column: bytes) -> bytes:
    """Apply the inverse of MixColumns to one column."""
    return bytes(
        [
            _TIMES_14[column[row]]
            ^ _TIMES_11[column[(row + 1) % 4]]
            ^ _TIMES_13[column[(row + 2) % 4]]
            ^ _TIMES_9[column[(row + 3) % 4]]
            for row in range(4)
        ]
    )


def decrypt_cbc(key: bytes, initial: bytes, data: bytes) -> bytes:
    """Decrypt chained blocks (CBC); `initial` is the initialization vector."""
    keys = _round_keys(key)
    before = initial
    decrypted = []
    for start in range(0, len(data), BLOCK):
        block = data[start : start + BLOCK]
        decrypted.append(_xor(_decrypt_block(block, keys), before))
        before = block
    return b"".join(decrypted)
