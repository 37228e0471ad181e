from netcarlo.scenario import Scenario
import netcarlo as nc, sys, itertools
def cell(**w):
    flows=w.pop('flows', [{'count': w.get('n',1), 'each': {'source':'station','sink':'gateway','saturated':True}}])
    n=w.pop('n',1); payload=w.pop('payload','1500 B'); header=w.pop('header','0 B'); dur=w.pop('dur','3.2 s')
    return Scenario.check({'duration':dur,'warm_up':'200 ms','replications':w.pop('reps',4),'transport':{'protocol':'udp','rate':'1 Mbit/s','payload':payload,'header':header},
     'wireless':{'cell':{'stations':n},'flows':flows,**w}})
def g(s, **k):
    return float(nc.simulate(s).frame['goodput_bps'].mean())/1e6
if __name__=='__main__':
    ref={(20,0):[6.3381,5.8172,5.3146,4.6317]}
    for width,mcs in ((20,0),(20,7),(20,11),(80,0),(80,11)):
        r=[]
        for n in (5,10,20,50):
            s=cell(n=n,standard='802.11ax',channel=f'{width} MHz',streams=1,guard='800 ns',mcs=mcs,mac_overhead='34 B',short_retry=10000,
              aggregation={'ampdu':'0 B'},edca={'best_effort':{'aifsn':2,'txop':'0 s'}},dur='8 s')
            r.append(round(g(s),3))
        print(width,mcs,r,flush=True)
