// A cell of 802.11n, ac or ax in ns-3 3.37 without hidden nodes: saturated datagrams, datagrams at a
// constant rate, or TCP from or to a server behind the access point.  Prints the goodput of each group of flows
// [Mbit/s].  Stations associate before the load starts; then the access point sends no more beacons.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{
const double LOAD = 1.5; // start of the load, after association [s]
const std::map<std::string, std::pair<AcIndex, uint8_t>> CATEGORIES = {
    {"BE", {AC_BE, 0x00}}, {"BK", {AC_BK, 0x20}}, {"VI", {AC_VI, 0xa0}}, {"VO", {AC_VO, 0xc0}}}; // with the TOS

struct Group // group of flows, one per station
{
    std::string direction; // up or down
    std::string traffic;   // sat, cbr or tcp; empty: no flows
    std::string category = "BE";
    uint32_t payload = 1472; // [byte]
    double rate = 0;         // of a flow [Mbit/s]
    std::vector<Ptr<PacketSink>> sinks;
    uint64_t before = 0; // received before the window [byte]

    uint64_t Received() const
    {
        uint64_t sum = 0;
        for (const auto& sink : sinks)
        {
            sum += sink->GetTotalRx();
        }
        return sum;
    }
};

// Keep a number of packets in the queue of a station: one arrives when one leaves.
struct Backlog
{
    Ptr<Socket> socket;
    uint32_t payload;
    uint32_t packets;

    void Fill(uint32_t, uint32_t now)
    {
        if (now < packets)
        {
            Simulator::ScheduleNow(&Backlog::Send, this);
        }
    }

    void Send()
    {
        if (queue->GetNPackets() < packets)
        {
            socket->Send(Create<Packet>(payload));
        }
    }

    void Start()
    {
        for (uint32_t i = 0; i < packets; i++)
        {
            socket->Send(Create<Packet>(payload));
        }
    }

    Ptr<WifiMacQueue> queue;
};

void
SendEvery(Ptr<Socket> socket, uint32_t payload, Time gap)
{
    socket->Send(Create<Packet>(payload));
    Simulator::Schedule(gap, &SendEvery, socket, payload, gap);
}
} // namespace

int
main(int argc, char* argv[])
{
    std::string standard = "802.11ax";
    uint32_t width = 20;
    uint32_t streams = 1;
    uint32_t guard = 800;
    uint32_t stations = 1;
    uint32_t mcs = 0;
    uint32_t ampdu = 65535;
    uint32_t window = 64;
    bool rts = false;
    bool request = true;
    uint32_t queue = 0;
    double wire = 0;
    std::string control = "newreno";
    uint32_t ssthresh = 65535;
    double warm = 0.5;
    double duration = 1;
    uint32_t seed = 1;
    Group groups[2];
    CommandLine cmd;
    cmd.AddValue("standard", "802.11n, ac or ax", standard);
    cmd.AddValue("width", "of the channel [MHz]", width);
    cmd.AddValue("streams", "spatial streams", streams);
    cmd.AddValue("guard", "interval [ns]", guard);
    cmd.AddValue("stations", "beside the access point", stations);
    cmd.AddValue("mcs", "of all data", mcs);
    cmd.AddValue("ampdu", "largest A-MPDU [byte]", ampdu);
    cmd.AddValue("window", "of a Block Ack agreement [MPDUs]", window);
    cmd.AddValue("rts", "before all data", rts);
    cmd.AddValue("request", "BlockAckReq after a missing BlockAck", request);
    cmd.AddValue("queue", "packets of each category of each node; 0: no limit", queue);
    cmd.AddValue("wire", "delay behind the access point [ms]", wire);
    cmd.AddValue("control", "newreno or cubic", control);
    cmd.AddValue("ssthresh", "initial slow start threshold [byte]", ssthresh);
    cmd.AddValue("warm", "time before the window [s]", warm);
    cmd.AddValue("duration", "of the window [s]", duration);
    cmd.AddValue("seed", "run", seed);
    for (uint32_t i = 0; i < 2; i++)
    {
        std::string name = "g" + std::to_string(i + 1);
        cmd.AddValue(name + "_direction", "up or down", groups[i].direction);
        cmd.AddValue(name + "_traffic", "sat, cbr or tcp", groups[i].traffic);
        cmd.AddValue(name + "_category", "BE, BK, VI or VO", groups[i].category);
        cmd.AddValue(name + "_payload", "[byte]", groups[i].payload);
        cmd.AddValue(name + "_rate", "of a flow [Mbit/s]", groups[i].rate);
    }
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    const char letter = standard.back();
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(queue ? queue : 100000) + "p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rts ? 0 : 4692480));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(request));
    Config::SetDefault("ns3::QosTxop::AddBaResponseTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize", UintegerValue(ampdu));
    Config::SetDefault("ns3::WifiMac::VI_MaxAmpduSize", UintegerValue(ampdu));
    Config::SetDefault("ns3::HtConfiguration::ShortGuardIntervalSupported", BooleanValue(guard == 400));
    Config::SetDefault("ns3::HeConfiguration::GuardInterval",
                       TimeValue(NanoSeconds(letter == 'x' ? guard : 800)));
    Config::SetDefault("ns3::HeConfiguration::MpduBufferSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       StringValue(control == "cubic" ? "ns3::TcpCubic" : "ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(ssthresh));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer nodes; // stations, the access point, the server
    nodes.Create(stations + 2);
    NodeContainer members;
    for (uint32_t i = 0; i < stations; i++)
    {
        members.Add(nodes.Get(i));
    }
    auto channel = CreateObject<YansWifiChannel>();
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-45);
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    WifiHelper wifi;
    wifi.SetStandard(letter == 'n'   ? WIFI_STANDARD_80211n
                     : letter == 'c' ? WIFI_STANDARD_80211ac
                                     : WIFI_STANDARD_80211ax);
    std::ostringstream mode;
    mode << (letter == 'n' ? "Ht" : letter == 'c' ? "Vht" : "He") << "Mcs"
         << (letter == 'n' ? mcs + 8 * (streams - 1) : mcs);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode.str()),
                                 "ControlMode", StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::StaWifiMac", "MaxMissedBeacons", UintegerValue(1 << 30));
    auto devices = wifi.Install(phy, mac, members);
    mac.SetType("ns3::ApWifiMac");
    devices.Add(wifi.Install(phy, mac, nodes.Get(stations)));
    auto access = DynamicCast<WifiNetDevice>(devices.Get(stations))->GetMac();
    Simulator::Schedule(Seconds(LOAD), [access] { access->SetAttribute("BeaconGeneration", BooleanValue(false)); });

    auto positions = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < stations; i++)
    {
        positions->Add(Vector(std::cos(2 * M_PI * i / stations), std::sin(2 * M_PI * i / stations), 0));
    }
    positions->Add(Vector(0, 0, 0));
    positions->Add(Vector(0, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    PointToPointHelper wired;
    wired.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    wired.SetChannelAttribute("Delay", TimeValue(Seconds(wire / 1e3)));
    wired.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("60000p"));
    auto wiredDevices = wired.Install(nodes.Get(stations), nodes.Get(stations + 1));
    InternetStackHelper stack;
    stack.Install(nodes);
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    auto wiredInterfaces = Ipv4AddressHelper("10.0.1.0", "255.255.255.0").Assign(wiredDevices);
    TrafficControlHelper queues; // only the queue of the MAC
    queues.Uninstall(devices);
    queues.Uninstall(wiredDevices);
    NeighborCacheHelper().PopulateNeighborCache();
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i = 0; i < stations; i++)
    {
        routing.GetStaticRouting(nodes.Get(i)->GetObject<Ipv4>())
            ->SetDefaultRoute(interfaces.GetAddress(stations), 1);
    }
    routing.GetStaticRouting(nodes.Get(stations + 1)->GetObject<Ipv4>())
        ->SetDefaultRoute(wiredInterfaces.GetAddress(0), 1);

    auto random = CreateObject<UniformRandomVariable>();
    std::vector<std::unique_ptr<Backlog>> backlogs;
    for (uint32_t g = 0; g < 2; g++)
    {
        Group& group = groups[g];
        for (uint32_t i = 0; !group.traffic.empty() && i < stations; i++)
        {
            const bool tcp = group.traffic == "tcp";
            const bool up = group.direction == "up";
            const uint32_t gateway = tcp ? stations + 1 : stations;
            const uint32_t source = up ? i : gateway;
            const uint32_t sink = up ? gateway : i;
            const auto address = sink <= stations ? interfaces.GetAddress(sink) : wiredInterfaces.GetAddress(1);
            const InetSocketAddress to(address, 1000 + 1000 * g + i);
            PacketSinkHelper server(tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory", to);
            auto installed = server.Install(nodes.Get(sink));
            installed.Start(Seconds(0));
            group.sinks.push_back(DynamicCast<PacketSink>(installed.Get(0)));
            if (tcp)
            {
                BulkSendHelper client("ns3::TcpSocketFactory", to);
                client.SetAttribute("SendSize", UintegerValue(1448));
                client.Install(nodes.Get(source)).Start(Seconds(LOAD + random->GetValue(0, 0.05)));
                continue;
            }
            auto socket = Socket::CreateSocket(nodes.Get(source), UdpSocketFactory::GetTypeId());
            socket->Connect(to);
            const auto [category, tos] = CATEGORIES.at(group.category);
            socket->SetIpTos(tos);
            if (group.traffic == "cbr")
            {
                const Time gap = Seconds(8 * group.payload / group.rate / 1e6);
                Simulator::ScheduleWithContext(nodes.Get(source)->GetId(),
                                               Seconds(LOAD + random->GetValue(0, gap.GetSeconds())),
                                               &SendEvery, socket, group.payload, gap);
                continue;
            }
            if (!up)
            {
                std::fprintf(stderr, "saturated flows must be uploads\n");
                return 2;
            }
            auto backlog = std::make_unique<Backlog>();
            backlog->socket = socket;
            backlog->payload = group.payload;
            backlog->packets = 2 * window;
            backlog->queue = DynamicCast<WifiNetDevice>(devices.Get(source))->GetMac()->GetTxopQueue(category);
            backlog->queue->TraceConnectWithoutContext("PacketsInQueue",
                                                       MakeCallback(&Backlog::Fill, backlog.get()));
            Simulator::ScheduleWithContext(nodes.Get(source)->GetId(), Seconds(LOAD + random->GetValue(0, 0.01)),
                                           &Backlog::Start, backlog.get());
            backlogs.push_back(std::move(backlog));
        }
    }
    Simulator::Stop(Seconds(LOAD + warm));
    Simulator::Run();
    for (auto& group : groups)
    {
        group.before = group.Received();
    }
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    for (const auto& group : groups)
    {
        std::printf("%.5f ", 8e-6 * (group.Received() - group.before) / duration);
    }
    std::printf("\n");
    Simulator::Destroy();
    return 0;
}
