"""CCSDS Space Packets: telemetry of packet sets, telecommands with acknowledgement, and their XTCE description."""
