// An 802.11g chain without hidden nodes in ns-3 3.37: UDP from node 0 to the last node.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t hops = 4;
    double offered = 10;
    double duration = 10;
    double warm = 1;
    uint32_t seed = 1;
    bool arf = false;
    CommandLine cmd;
    cmd.AddValue("hops", "radio hops", hops);
    cmd.AddValue("offered", "Mbit/s of payload", offered);
    cmd.AddValue("duration", "counted time [s]", duration);
    cmd.AddValue("warm", "warm-up [s]", warm);
    cmd.AddValue("seed", "run", seed);
    cmd.AddValue("arf", "automatic rate fallback over all rates of 802.11g", arf);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer nodes;
    nodes.Create(hops + 1);
    auto channel = CreateObject<YansWifiChannel>();
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-50);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211g);
    if (arf)
    {
        wifi.SetRemoteStationManager("ns3::ArfWifiManager");
    }
    else
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue("ErpOfdmRate54Mbps"),
                                     "ControlMode",
                                     StringValue("ErpOfdmRate24Mbps"));
    }
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10000)));
    auto devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i <= hops; i++)
    {
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy()->SetSlot(MicroSeconds(9));
    }

    MobilityHelper mobility; // all in one place: no propagation delay
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    InternetStackHelper stack;
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i = 0; i + 1 < hops; i++) // towards the last node, hop by hop
    {
        routing.GetStaticRouting(nodes.Get(i)->GetObject<Ipv4>())
            ->AddHostRouteTo(interfaces.GetAddress(hops), interfaces.GetAddress(i + 1), 1);
    }

    uint32_t payload = 1470;
    UdpServerHelper server(9);
    auto sink = server.Install(nodes.Get(hops));
    sink.Start(Seconds(0));
    UdpClientHelper client(interfaces.GetAddress(hops), 9);
    client.SetAttribute("PacketSize", UintegerValue(payload));
    client.SetAttribute("MaxPackets", UintegerValue(1u << 31));
    client.SetAttribute("Interval", TimeValue(NanoSeconds(std::llround(payload * 8e3 / offered))));
    client.Install(nodes.Get(0)).Start(Seconds(0));

    uint64_t before = 0;
    auto count = [&sink]() { return DynamicCast<UdpServer>(sink.Get(0))->GetReceived(); };
    Simulator::Schedule(Seconds(warm), [&before, count]() { before = count(); });
    Simulator::Stop(Seconds(warm + duration));
    auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::cout << (count() - before) * payload * 8 / duration / 1e6 << " " << wall.count() << std::endl;
    Simulator::Destroy();
    return 0;
}
