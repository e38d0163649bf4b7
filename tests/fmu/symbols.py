"""Symbols of ELF files by pyelftools, so that no binutils are needed."""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile


def undefined(path: Path) -> set[str]:
    """Names that an object file takes from elsewhere."""
    return {name for name, section in _symbols(path, ".symtab") if section == "SHN_UNDEF"}


def exported(path: Path) -> set[str]:
    """Names that a shared library defines for others."""
    return {name for name, section in _symbols(path, ".dynsym") if section != "SHN_UNDEF"}


def _symbols(path: Path, table: str) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(table)
        return [(each.name, each["st_shndx"]) for each in symbols.iter_symbols() if each.name]
