from try_ import cell, g
std=dict(dur='700 ms', reps=2)
# Ginzburg: 2x2 MIMO, 1500-byte packets
for width in (20,40):
  for guard in ('800 ns','400 ns'):
    for mcs in (7,):
      rate={20:{'800 ns':130,'400 ns':144.4},40:{'800 ns':270,'400 ns':300}}[width][guard]
      for ampdu in ('0 B','65535 B'):
          x=g(cell(standard='802.11n',channel=f'{width} MHz',streams=2,guard=guard,mcs=mcs,payload='1472 B',header='28 B',aggregation={'ampdu':ampdu},edca={'best_effort':{'txop':'0 s'}},**std))
          print('ginzburg',width,guard,ampdu,round(x,1),round(x*1500/1472/rate,3),flush=True)
# Ong
def ong(standard,width,streams,mcs,amsdu,guard='400 ns',txop='0 s',ampdu=None):
    a={'amsdu':amsdu}
    if ampdu: a['ampdu']=ampdu
    return g(cell(standard=standard,channel=f'{width} MHz',streams=streams,guard=guard,mcs=mcs,payload='1472 B',header='28 B',aggregation=a,edca={'best_effort':{'txop':txop}},**std))
for guard in ('400 ns','800 ns'):
  for n_amsdu,ac_amsdu in (('0 B','0 B'),('7935 B','11398 B'),('3839 B','7935 B'),('3839 B','3839 B')):
    a=ong('802.11n',40,2,7,n_amsdu,guard); b=ong('802.11ac',80,1,9,ac_amsdu,guard); c=ong('802.11ac',80,2,9,ac_amsdu,guard)
    print('ong hybrid',guard,n_amsdu,ac_amsdu,round(a,1),round(b,1),round(c,1),round(b/a-1,3),round(c/a-1,3),flush=True)
  for n_amsdu,ac_amsdu in (('7935 B','7935 B'),('7935 B','11398 B')):
    a=ong('802.11n',40,2,7,n_amsdu,guard,ampdu='0 B'); b=ong('802.11ac',80,1,9,ac_amsdu,guard,ampdu='0 B'); c=ong('802.11ac',80,2,9,ac_amsdu,guard,ampdu='0 B')
    print('ong amsdu only',guard,n_amsdu,ac_amsdu,round(a,1),round(b,1),round(c,1),round(b/a-1,3),round(c/a-1,3),flush=True)
  a=ong('802.11n',40,2,7,'0 B',guard); b=ong('802.11ac',80,1,9,'0 B',guard,ampdu='65535 B'); c=ong('802.11ac',80,2,9,'0 B',guard,ampdu='65535 B')
  print('ong 64k both',guard,round(b/a-1,3),round(c/a-1,3),flush=True)
# Sharon: 160 MHz, best over MCS
