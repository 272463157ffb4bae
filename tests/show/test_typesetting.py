"""What Typst is given is set as it stands: no word of it is a program, and no letter is an empty box."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
import typst
from tests.show.read_pdf import alternatives_of, words_of

from epsilens.show import document as doc
from epsilens.show.render.pdf import to_pdf
from epsilens.show.typesetting import UNKNOWN, drawings_pdf

MARKUP = (
    "#read(\"/etc/passwd\")", "$x^2$", "*bold*", "_low_", "= Heading", "- item", "<label>", "@label", "`raw`", "#{1+1}",
    "\\u{41}", "// gone", "/* gone */", "~", "--", "...", "'quoted' \"twice\"", "https://example.org", "[", "]", "]#",
    "&lt;b&gt;", "</text>",
)  # fmt: skip
DRAWING = (
    '<svg aria-label="{0}" xmlns="http://www.w3.org/2000/svg" width="300" height="40" font-family="&#x27;Source Sans 3'
    '&#x27;"><text x="5" y="20" fill="#16191D">{0}</text></svg>'
)


def _everywhere(text: str) -> doc.Document:
    """A document with a text in every place that has one."""
    table = doc.plain_table((text, text), [[text, text]] * 2)
    lists = doc.Items((text,), numbered=True), doc.Fold(text, (doc.Items((text,)),))
    words = doc.Lead((doc.said(text),)), doc.Status(text), doc.Paragraph(doc.said(text)), doc.Notes((text, text))
    blocks = (*words, *lists, doc.Code(text), table)
    parts, facts = (doc.Section(text, blocks, note=text),), (doc.Fact(text, text),)
    return doc.Document(text, text, blocks, parts, headline=text, facts=facts, aside=text, footer=text)


@pytest.mark.parametrize("text", MARKUP)
def test_nothing_is_read_as_markup(text: str) -> None:
    plain = "".join("".join(words_of(to_pdf(_everywhere("QQ")))).split())
    told = "".join("".join(words_of(to_pdf(_everywhere(text)))).replace("\N{NO-BREAK SPACE}", " ").split())
    assert told == plain.replace("QQ", "".join(text.split()))


def test_the_programs_take_nothing_but_their_data() -> None:
    for program in ("document", "drawings"):
        text = files("epsilens.show").joinpath(f"assets/{program}.typ").read_text("utf-8")
        assert (
            re.findall(r"\b(?:(?:read|plugin|eval|csv|yaml|toml|xml|cbor|bibliography)\(|import\b|include\b)", text)
            == []
        )
        assert re.findall(r"\b(json|image)\((?!bytes\()", text) == []


@pytest.mark.always
def test_every_letter_that_is_kept_is_drawn() -> None:
    kept = [chr(code) for code in range(0x20, 0x11_0000) if not re.match(UNKNOWN, chr(code))]
    assert len(kept) > 2_500
    fonts = typst.Fonts(include_system_fonts=False, font_paths=[str(files("epsilens.show").joinpath("assets"))])
    program = (
        b'#set document(title: "t")\n#set text(font: ("Epsilens Sans", "DejaVu Sans Mono"))\n'
        b"#for letter in json(bytes(sys.inputs.letters)) [#letter #text(weight: 600, letter) ]"
    )
    inputs = {"letters": json.dumps(kept)}
    # PDF/A allows no letter that no font has: Typst refuses it.
    assert typst.compile(program, font_paths=fonts, sys_inputs=inputs, pdf_standards=["a-2u"]).startswith(b"%PDF")
    with pytest.raises(typst.TypstError, match="could not be displayed"):
        typst.compile(program, font_paths=fonts, sys_inputs={"letters": '["病"]'}, pdf_standards=["a-2u"])


@pytest.mark.parametrize(("text", "drawn"), [
    ("a病b", "a?b"), ("≤ ∞ Ж", "≤∞Ж"), ("e\N{COMBINING ACUTE ACCENT}", "é"), ("a\x07\ud800b", "a??b"), ("😀", "?"),
])  # fmt: skip
def test_a_letter_we_have_not_is_a_question_mark(text: str, drawn: str) -> None:
    document = doc.Document("t", "k", (doc.Paragraph(doc.said(text)), doc.Code(text)))
    assert "".join("".join(words_of(to_pdf(document))).split()) == f"kt{drawn}{drawn}k:t·epsilens"
    if "\ud800" not in text:
        assert "".join("".join(words_of(drawings_pdf([DRAWING.format(text)]))).split()) == drawn


def test_who_cannot_see_a_picture_hears_every_letter() -> None:
    assert alternatives_of(drawings_pdf([DRAWING.format("a病 &lt; b")])) == ["a病 < b"]


def test_the_same_data_are_the_same_bytes_and_hold_no_date() -> None:
    one, two = (to_pdf(_everywhere("a")) for _ in range(2))
    assert one == two
    assert not re.search(rb"CreationDate|ModDate|CreateDate|/home|/work|/tmp", one)
