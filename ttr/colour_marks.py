"""How colours are shown, on paper and in the terminal: every colour has a letter, so that no one needs to tell colours apart."""

# fill of a space, letter on it, colour of the letter
COLOURS = {
    "black": ("#3b3b3b", "K", "white"),
    "white": ("#ffffff", "W", "#444444"),
    "red": ("#d9412f", "R", "white"),
    "orange": ("#f2952b", "O", "black"),
    "yellow": ("#f7e04b", "Y", "black"),
    "green": ("#5fa641", "G", "black"),
    "blue": ("#3d85c6", "B", "white"),
    "pink": ("#e79bc8", "P", "black"),
    "grey": ("#c4c4c4", "", "black"),
}
SPARE_FILLS = ["#8c6bb1", "#a6761d", "#1b9e9e", "#b5cf6b", "#f4cae4", "#8dd3c7", "#7f7f2a", "#cc6677"]
PLAYERS = ["#004c97", "#c1440e", "#00795a", "#8a2d83", "#1a1a1a"]


def colour_marks(colours: tuple[str, ...]) -> list[tuple[str, str, str, str]]:
    """(name, fill, letter, colour of the letter) of a map's colours, grey last; every letter is used once."""
    marks, letters, spare = [], {COLOURS[name][1] for name in colours if name in COLOURS}, iter(SPARE_FILLS)
    for name in colours:
        if name in COLOURS:
            fill, letter, ink = COLOURS[name]
        else:
            free = [sign for sign in name.upper() + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if sign.isalpha() and sign not in letters]
            fill, letter, ink = next(spare), free[0], "black"
            letters.add(letter)
        marks.append((name, fill, letter, ink))
    return [*marks, ("grey", *COLOURS["grey"])]
