"""All files of an FMU but its binaries and resources."""

from __future__ import annotations

from collections.abc import Mapping

from limberjack.fmu import description_fmi2, description_fmi3, documentation, icon, reference, terminals
from limberjack.fmu.description import Content, token_of

ICON_NAME, TERMINALS_NAME = "terminalsAndIcons/icon.png", "terminalsAndIcons/terminalsAndIcons.xml"
#: where FMI 2 looks for the icon (FMI 2.0.5, section 2.3)
FMI2_ICON_NAME = "model.png"
DESCRIPTION_NAME = "modelDescription.xml"


def model_description(content: Content) -> bytes:
    """modelDescription.xml in the content's version of the standard."""
    return description_fmi2.document(content) if content.fmi == "2.0" else description_fmi3.document(content)


def with_token(content: Content, resources: Mapping[str, bytes]) -> Content:
    """The content under the token that its description and `resources` (made without a token) give.

    Everything that the binaries rely on is in the two: an FMU whose files were mixed is refused at instantiation.
    """
    parts = [model_description(content.with_token(""))]
    for name in sorted(resources):
        parts += [name.encode(), resources[name]]
    return content.with_token(token_of(parts))


def files(content: Content) -> dict[str, bytes]:
    """Name inside the FMU → bytes. Runs the default experiment for the reference result; warns where it diverges."""
    result = reference.compute(content)
    drawn = icon.skeleton(content.system)
    picture = icon.icon_png(drawn)
    listed = {
        DESCRIPTION_NAME: model_description(content),
        TERMINALS_NAME: terminals.document(content),
        ICON_NAME: picture,
        f"{reference.FOLDER}/{reference.RESULT_NAME}": result.csv,
        f"{reference.FOLDER}/{reference.MANIFEST_NAME}": reference.manifest(result),
    }
    if content.fmi == "2.0":
        listed[FMI2_ICON_NAME] = picture
    return listed | documentation.files(content, result, icon.diagram_png(drawn))
