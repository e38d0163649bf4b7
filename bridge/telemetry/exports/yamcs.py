"""The files of a Yamcs instance that reads the CCSDS packets of a model, shows them and sends telecommands."""

from __future__ import annotations

from typing import Any

import yaml

from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, read_packets
from limberjack.bridge.telemetry.ccsds.sets import Plan, plan_of
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.ccsds.xtce import xtce
from limberjack.bridge.telemetry.exports.registry import Subject

#: as `--ccsds udp://127.0.0.1:10015?commands=10025` and `--yamcs udp://127.0.0.1:11016` have them
_PACKETS_PORT, _COMMANDS_PORT, _PARAMETERS_PORT = 10015, 10025, 11016


def export(subject: Subject) -> dict[str, str]:
    """Path → text: configuration of an instance "limberjack", and its database. ArgumentError as `plan_of`."""
    vocabulary = vocabulary_of(subject.simulation, subject.dictionary)
    spec = DEFAULT if subject.packets is None else read_packets(subject.packets)
    plan = plan_of(subject.dictionary, vocabulary, spec)
    texts = {
        "etc/yamcs.yaml": _server(),
        "etc/processor.yaml": _processor(),
        "etc/yamcs.limberjack.yaml": _instance(plan),
    }
    files = {path: yaml.safe_dump(text, sort_keys=False) for path, text in texts.items()}
    return files | {"mdb/limberjack.xml": xtce(plan, yamcs=True)}


def _server() -> dict[str, Any]:
    http = {"class": "org.yamcs.http.HttpServer", "args": {"address": "127.0.0.1", "port": 8090}}
    return {"services": [http], "instances": ["limberjack"], "dataDir": "yamcs-data"}


def _processor() -> dict[str, Any]:
    """What works on packets, parameters and telecommands as they come, with alarms."""
    realtime = {
        "services": _classes(
            "StreamTmPacketProvider", "StreamTcCommandReleaser", "tctm.StreamParameterProvider",
            "algorithms.AlgorithmManager", "parameter.LocalParameterManager",
        ),
        "config": {
            "subscribeAll": True,
            "alarm": {"parameterCheck": True, "parameterServer": "enabled", "eventServer": "enabled"},
        },
    }  # fmt: skip
    return {
        "realtime": realtime,
        "Archive": {"services": _classes("tctm.ReplayService", "algorithms.AlgorithmManager")},
    }


def _instance(plan: Plan) -> dict[str, Any]:
    recorders = _classes(
        "archive.XtceTmRecorder", "archive.ParameterRecorder", "archive.AlarmRecorder", "archive.EventRecorder",
        "archive.ReplayServer", "archive.CommandHistoryRecorder", "parameterarchive.ParameterArchive",
    )  # fmt: skip
    processor = {"class": "org.yamcs.ProcessorCreatorService", "args": {"name": "realtime", "type": "realtime"}}
    return {
        "services": [*recorders, processor],
        "dataLinks": _links(plan),
        "mdb": [{"type": "xtce", "args": {"file": "mdb/limberjack.xml"}}],
        "streamConfig": {
            "tm": [{"name": "tm_realtime", "processor": "realtime"}],
            "cmdHist": ["cmdhist_realtime"],
            "event": ["events_realtime"],
            "param": ["pp_realtime", "sys_param", "proc_param"],
            "parameterAlarm": ["alarms_realtime"],
            "eventAlarm": ["event_alarms_realtime"],
            "tc": [{"name": "tc_realtime", "processor": "realtime"}],
        },
    }


def _links(plan: Plan) -> list[dict[str, Any]]:
    """Packets in, telecommands out, parameters in; times in packets count from 1970 without leap seconds."""
    since_1970 = {"epoch": "CUSTOM", "epochUTC": "1970-01-01T00:00:00Z", "timeIncludesLeapSeconds": False}
    return [
        {
            "name": "packets",
            "class": "org.yamcs.tctm.UdpTmDataLink",
            "stream": "tm_realtime",
            "port": _PACKETS_PORT,
            "maxLength": max(plan.spec.largest, 2000),
            "packetPreprocessorClassName": "org.yamcs.pus.PusPacketPreprocessor",
            "packetPreprocessorArgs": _crc() | {"timeEncoding": {"type": "CUC", **since_1970}},
        },
        {
            "name": "telecommands",
            "class": "org.yamcs.tctm.UdpTcDataLink",
            "stream": "tc_realtime",
            "host": "127.0.0.1",
            "port": _COMMANDS_PORT,
            "commandPostprocessorClassName": "org.yamcs.pus.PusCommandPostprocessor",
            "commandPostprocessorArgs": _crc(),
        },
        {
            "name": "parameters",
            "class": "org.yamcs.tctm.UdpParameterDataLink",
            "stream": "pp_realtime",
            "port": _PARAMETERS_PORT,
            "json": True,
        },
    ]


def _classes(*names: str) -> list[dict[str, Any]]:
    return [{"class": f"org.yamcs.{name}"} for name in names]


def _crc() -> dict[str, Any]:
    return {"errorDetection": {"type": "CRC-16-CCIIT"}}
