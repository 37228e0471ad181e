// An 802.11g cell in ns-3 3.37 without hidden nodes: datagrams and TCP between stations and the last node.
// Writes a line for each data packet at its source's and its sink's network layer:
//   s TIME_NS FLOW NUMBER   and   r TIME_NS FLOW NUMBER
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace ns3;

namespace
{
const uint16_t FIRST_PORT = 1000; // the flow number is the port minus this

void
Write(char event, Ptr<const Packet> packet)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    uint64_t number = 0;
    uint16_t port = 0;
    if (ip.GetProtocol() == 17)
    {
        UdpHeader udp;
        copy->RemoveHeader(udp);
        SeqTsHeader sequence;
        copy->RemoveHeader(sequence);
        port = udp.GetDestinationPort();
        number = sequence.GetSeq();
    }
    else
    {
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        if (copy->GetSize() == 0) // an acknowledgement
        {
            return;
        }
        port = tcp.GetDestinationPort();
        number = tcp.GetSequenceNumber().GetValue();
    }
    std::printf("%c %lld %d %llu\n", event, static_cast<long long>(Simulator::Now().GetNanoSeconds()),
                port - FIRST_PORT, static_cast<unsigned long long>(number));
}

void
OnSend(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Write('s', packet);
}

void
OnReceive(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Write('r', packet);
}
} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 2;
    uint32_t rate = 54;
    uint32_t control = 24;
    uint32_t queue = 50;
    double duration = 10;
    uint32_t seed = 1;
    std::string flows; // a file: kind (udp or tcp), source, sink, bytes, interval [ns] or window [byte], start [ns]
    CommandLine cmd;
    cmd.AddValue("stations", "beside the last node", stations);
    cmd.AddValue("rate", "of data [Mbit/s]", rate);
    cmd.AddValue("control", "of acknowledgements [Mbit/s]", control);
    cmd.AddValue("queue", "frames of each node", queue);
    cmd.AddValue("duration", "simulated time [s]", duration);
    cmd.AddValue("seed", "run", seed);
    cmd.AddValue("flows", "file", flows);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(queue) + "p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(10000)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20)); // the sender's buffer is the window
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));

    NodeContainer nodes;
    nodes.Create(stations + 1);
    auto channel = CreateObject<YansWifiChannel>();
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-50);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211g);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue("ErpOfdmRate" + std::to_string(rate) + "Mbps"),
                                 "ControlMode",
                                 StringValue("ErpOfdmRate" + std::to_string(control) + "Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    auto devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i <= stations; i++)
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
    TrafficControlHelper().Uninstall(devices); // only the queue of the station
    NeighborCacheHelper neighbours;
    neighbours.PopulateNeighborCache();
    for (uint32_t i = 0; i <= stations; i++)
    {
        auto ip = nodes.Get(i)->GetObject<Ipv4L3Protocol>();
        ip->TraceConnectWithoutContext("Tx", MakeCallback(&OnSend));
        ip->TraceConnectWithoutContext("Rx", MakeCallback(&OnReceive));
    }

    std::ifstream file(flows);
    std::string line;
    for (uint16_t port = FIRST_PORT; std::getline(file, line); port++)
    {
        std::istringstream words(line);
        std::string kind;
        uint32_t source;
        uint32_t sink;
        uint32_t bytes;
        uint64_t more;
        uint64_t start;
        words >> kind >> source >> sink >> bytes >> more >> start;
        InetSocketAddress to(interfaces.GetAddress(sink), port);
        ApplicationContainer sender;
        if (kind == "udp")
        {
            UdpServerHelper server(port);
            server.Install(nodes.Get(sink)).Start(Seconds(0));
            UdpClientHelper client(interfaces.GetAddress(sink), port);
            client.SetAttribute("PacketSize", UintegerValue(bytes));
            client.SetAttribute("MaxPackets", UintegerValue(1u << 31));
            client.SetAttribute("Interval", TimeValue(NanoSeconds(more)));
            sender = client.Install(nodes.Get(source));
        }
        else
        {
            Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(bytes)); // the same of all
            Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(more));
            PacketSinkHelper server("ns3::TcpSocketFactory", to);
            server.Install(nodes.Get(sink)).Start(Seconds(0));
            BulkSendHelper client("ns3::TcpSocketFactory", to);
            client.SetAttribute("SendSize", UintegerValue(bytes));
            sender = client.Install(nodes.Get(source));
        }
        sender.Start(NanoSeconds(start));
    }
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
