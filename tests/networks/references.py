"""Small reference files in the formats of ns2_lossy and ns2_linkdown."""

LOSSY = """\
# a comment
id,tcp,rate_bps,delay_oneway_ms,queue_packets,packet_error_rate,packet_bytes,window_packets,duration_s,n_seeds,\
goodput_Bps_mean,goodput_Bps_sd,sent_packets_mean,sent_packets_sd,rexmit_packets_mean,rexmit_packets_sd,\
timeouts_mean,timeouts_sd,cwnd_reductions_mean,cwnd_reductions_sd,queue_drops_mean,queue_drops_sd,\
mean_cwnd_packets_mean,mean_cwnd_packets_sd,mean_rtt_s_mean,mean_rtt_s_sd
1,Reno,1000000,10,20,0.0,960,8,10,16,118000,0,1230,0,0,0,0,0,0,0,0,0,8,0,0.06,0.001
2,Sack1,1000000,10,20,0.01,960,8,10,16,110000,5000,1200,50,12,3,0.1,0.3,12,3,0,0,7,1,0.06,0.001
"""

LINUX = """\
id,congestion_control,delayed_ack,rate_bps,delay_oneway_ms,queue_packets,packet_error_rate,packet_bytes,\
window_packets,initial_ssthresh_packets,duration_s,n_seeds,goodput_Bps_mean,goodput_Bps_sd,sent_packets_mean,\
rexmit_packets_mean,timeouts_mean,cwnd_reductions_mean,queue_drops_mean,mean_cwnd_packets_mean,mean_rtt_s_mean
1,reno,0,1379000,5.35,5,0.0003,983,100000,0,60,16,163774,87,10326,321,0,313,317,5.5,0.039
2,htcp,0,5165000,4.13,6,0.0,1460,100000,0,60,16,624004,0,26147,493,0,484,493,8.0,0.02
3,cubic,1,7585000,20.54,7,0.0,1250,63,18,100,16,892281,0,71000,72,0,72,72,33,0.048
"""

KERNEL = """\
id,congestion_control,rate_bps,delay_oneway_ms,queue_packets,packet_error_rate,ack_error_rate,window_clamp_bytes,\
duration_s,n_seeds,goodput_Bps_mean,goodput_Bps_sd,sent_packets_mean,rexmit_packets_mean,timeouts_mean,\
fast_recoveries_mean,queue_drops_mean,random_drops_mean,mean_srtt_s_mean,mean_queue_packets_mean
1,reno,5830000,8.7,5,0.0,0.0,0,3,3,623772.3,200,1315,23,0,12,23,0,0.0245,2.38
2,bbr,1660000,23.0,6,0.0,0.0,0,3,3,197828.8,200,4329,224,0,70,224,0,0.0793,4.2
3,cubic,6070000,23.25,28,0.0,0.01,34752,3,5,729776.9,22,1523,7,0,1,7,0,0.0908,21.8
"""

PAIR = """\
id,congestion_control_1,congestion_control_2,rate_bps,delay_oneway_ms,extra_delay_2_ms,queue_packets,\
packet_error_rate,duration_s,n_seeds,goodput_1_Bps_mean,goodput_1_Bps_sd,goodput_2_Bps_mean,total_goodput_Bps_mean,\
share_1_mean,rexmit_packets_1_mean,timeouts_1_mean,mean_cwnd_packets_1_mean,mean_srtt_1_s_mean,\
rexmit_packets_2_mean,timeouts_2_mean,mean_cwnd_packets_2_mean,mean_srtt_2_s_mean,sent_packets_mean,\
fast_recoveries_mean,queue_drops_mean,random_drops_mean,mean_queue_packets_mean
1,reno,bbr,1480000,18.0,6.0,9,0.0,20,4,30000,1300,148000,178000,0.17,81,2,2.8,0.1,180,0,16,0.1,2500,100,260,0,6.5
"""

LINKDOWN = """\
id,proto,bw_mbps,delay_ms,queue_limit_pkts,window_pkts,down_start_s,down_dur_s,rwnd_bytes,path_max_retrans,\
alt_bw_mbps,alt_delay_ms,delivered_pkts,inorder_pkts,received_pkts,data_pkts_sent,retransmitted_pkts,timeouts,\
pkts_sent_alt_path,drops_queue,drops_linkdown,first_rx_s,resume_tx_s,resume_rx_s,restart_after_up_s
A,tcp_reno,1,10,50,20,50,0,,,,,8000,8000,8000,8000,0,0,,0,0,0.6,,,
B,tcp_sack1,1,10,50,20,50,5,,,,,7000,7000,7000,7100,0,3,,0,20,0.6,56,56.1,1
C,tcp_vegas,1,10,50,20,50,5,,,,,7000,7000,7000,7100,0,3,,0,20,0.6,56,56.1,1
D,tcp_tahoe,1,10,5,20,50,5,,,,,7000,7000,7000,7100,0,3,,9,20,0.6,56,56.1,1
E,tcp_newreno,1,10,50,20,50,5,,,,,7000,7000,7000,7100,0,3,,0,20,0.6,56,56.1,1
F,sctp_single,1,10,50,20,50,5,29420,5,,,7000,7000,7000,7100,0,3,,0,20,0.6,56,56.1,1
G,sctp_multi,1,10,50,20,50,5,29420,0,0.5,20,7000,7000,7000,7100,0,3,900,0,20,0.6,51,51.1,-4
"""

MANET = """\
id,range_m,error_mode,error_rate,speed_mps,n_seeds,transfer_s_mean,throughput_kbps_mean,throughput_kbps_sd,\
retransmissions_mean,timeouts_mean,window_cuts_mean,energy_source_J_mean,energy_sink_J_mean,energy_all_J_mean
6,150.0,none,0.0,14,20,75.222,578.48,184.888,99.85,8.65,13.8,84.898,77.444,765.735
9,150.0,phy,0.05,6,20,87.97,522.145,165.73,48.9,5.25,7.95,96.907,88.732,875.86
45,250.0,residual,0.05,8,20,47.468,854.14,92.661,275.65,22.75,194.45,59.656,52.029,506.43
"""

WAYPOINT = """\
id,range_m,speed_mps,pair_connected_fraction,graph_split_fraction,p_hops1,p_hops2,p_hops3,p_hops4,p_hops5plus,\
mean_shortest_hops,mean_hops_of_route_in_use,route_breaks_per_connected_s,mean_route_life_s,outages_per_s,\
mean_outage_s,link_changes_per_pair_per_s,mean_degree
13,150.0,14.0,0.90096,0.31375,0.50697,0.32924,0.13136,0.02705,0.00537,1.6959,2.0422,0.17687,5.557,0.024294,4.056,\
0.052022,4.0986
"""
