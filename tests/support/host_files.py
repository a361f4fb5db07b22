"""Texts of programs that run on hosts."""

QOS = """\
DCBX mode: OS controlled
Priority trust state: {trust}
dscp2prio mapping:
\tprio:3 dscp:31,30,29,28,27,26,25,24,
\tprio:6 dscp:55,54,53,52,51,50,49,48,
Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,total_size=1027728
Cable len: 7
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     {pfc}   \n\tbuffer      0   0   0   1   0   0   0   0   \ntc: 0 ratelimit: unlimited, tsa: vendor
\t priority:  1
"""
GOOD = QOS.format(trust="dscp", pfc="0   0   0   1   0   0   0   0")
FIRMWARE = """\

Device #1:
----------

Device type:        ConnectX7
Name:               MCX75310AAS-NEA_Ax
Device:             /dev/mst/mt4129_pciconf0

Configurations:                                  Default         Current         Next Boot
        CNP_802P_PRIO_P1                            6               6               6
*       CNP_DSCP_P1                                 48              48              4
        QOS_TRUST_STATE_P1                          TRUST_PCP(1)    TRUST_PCP(1)    TRUST_PCP(1)
"""
