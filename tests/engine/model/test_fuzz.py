"""Mutated model text never raises anything but ModelError, and always ends (pytest-timeout)."""

import re
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System
from tests.engine.model.test_urdf import ROBOT

ARM = (Path(__file__).parent / "arm.yaml").read_text()
YAML_TOKENS = (
    "- ", ": ", "{", "}", "[", "]", "&a ", "*a", "!!int ", "|", ">", "\n", "\t", "#", "null", "~", ".nan", "-.inf",
    "1e999", "-1", "0", "true", "'", '"', "? ", "---\n", "...\n", "%", "@", "`", "\x00", "\ufeff", "\ud7ff", "<<: ",
    "world", "base", "type: custom", "map: [[1]]", "9" * 500, "0x", "parent: hand", "type: planar", "limits: {}",
)  # fmt: skip
LINKAGE = (Path(__file__).parent / "linkage.yaml").read_text()
XML_TOKENS = (
    "<", ">", "/>", "</", '"', "'", "&", "&amp;", "&#0;", "<!--", "-->", "<![CDATA[", "]]>", "<?x?>", "<!DOCTYPE a>",
    "nan", "inf", "1e999", "-1", "0 0", "", " ", "floating", "planar", "<joint>", "<inertial/>", "<mimic/>", "\x00",
    "${a}", "<limit/>", "<origin/>", "<axis/>", "<parent/>", "tool", "base", "9" * 500, "\ufeff", "<robot>",
)  # fmt: skip


def mutations(text: str, tokens: tuple[str, ...]) -> st.SearchStrategy[str]:
    """The text with up to six cuts, copies or insertions."""
    place = st.integers(0, len(text))
    edit = st.tuples(place, st.integers(0, 40), st.one_of(st.sampled_from(tokens), st.text(max_size=4), place))

    def apply(edits):
        result = text
        for start, length, new in edits:
            piece = new if isinstance(new, str) else result[new : new + length]
            result = result[:start] + piece + result[start + length * (len(piece) % 2) :]
        return result

    return st.lists(edit, min_size=1, max_size=6).map(apply)


def swaps(text: str, words: tuple[str, ...]) -> st.SearchStrategy[str]:
    """The text with up to three of its words replaced, so that it mostly stays well-formed."""
    spans = [match.span() for match in re.finditer(r"[\w.\-]+", text)]
    edit = st.tuples(st.sampled_from(spans), st.sampled_from(words))

    def apply(edits):
        result = text
        for (start, end), word in sorted(edits, reverse=True):
            result = result[:start] + word + result[end:]
        return result

    return st.lists(edit, min_size=1, max_size=3, unique_by=lambda e: e[0]).map(apply)


def outcome(path: Path, text: str) -> System | ModelError:
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            return load(path)
        except ModelError as error:
            result = error
    assert str(path) in result.where
    assert result.remedy
    return result


ROUNDS = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


WORDS = (
    "0", "-1", "1", "1e308", "1e-308", "-0.0", "3.5", ".inf", "nan", "world", "base", "upper_arm", "arm",
    "tool", "hand", "fixed", "revolute", "planar", "floating", "free", "spherical", "custom", "gimbal", "servo",
    "null", "true",
    "stiffness", "limits", "position", "name", "type", "axis", "map", "radius", "9" * 400, "é", "link",
    "joint", "limit",
)  # fmt: skip


@ROUNDS
@given(text=swaps(ARM, WORDS))
def test_yaml_words(text, tmp_path):
    outcome(tmp_path / "m.yaml", text)


LOOP_WORDS = (
    *WORDS, "pin", "rod", "gear", "crank", "knee", "joint", "joint.angle", "mast", "hinge", "point", "weld", "distance",
    "coupling", "lock", "embed", "force", "switchable", "closed", "independent", "from", "to", "terms", "length",
    "reach",
)  # fmt: skip


@ROUNDS
@given(text=swaps(LINKAGE[LINKAGE.index("loops:") :], LOOP_WORDS))
def test_words_of_loops(text, tmp_path):
    outcome(tmp_path / "m.yaml", LINKAGE[: LINKAGE.index("loops:")] + text)


@ROUNDS
@given(text=swaps(ROBOT, WORDS))
def test_urdf_words(text, tmp_path):
    outcome(tmp_path / "m.urdf", text)


@ROUNDS
@given(text=mutations(ARM, YAML_TOKENS))
def test_yaml(text, tmp_path):
    outcome(tmp_path / "m.yaml", text)


@ROUNDS
@given(text=mutations(ROBOT, XML_TOKENS))
def test_urdf(text, tmp_path):
    outcome(tmp_path / "m.urdf", text)


@ROUNDS
@given(content=st.binary(max_size=200), suffix=st.sampled_from([".yaml", ".urdf", ".xml"]))
def test_bytes(content, suffix, tmp_path):
    path = tmp_path / f"m{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelError):
        load(path)
