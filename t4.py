from try_ import cell, g
for streams in (1,2,4):
  for mcs in (0,4,9,11):
    out=[]
    for standard,window,amp in (('802.11ac',64,None),('802.11ax',64,None),('802.11ax',256,None)):
      if standard=='802.11ac' and mcs>9: m=9
      else: m=mcs
      x=g(cell(standard=standard,channel='160 MHz',streams=streams,guard='800 ns',mcs=m,payload='1464 B',header='36 B',aggregation={'amsdu':'11398 B','block_ack':window},edca={'best_effort':{'txop':'0 s'}},dur='400 ms',reps=1))
      out.append(x)
    print(streams,mcs,[round(v,1) for v in out],'64:',round(out[1]/out[0]-1,3),'256:',round(out[2]/out[0]-1,3),flush=True)
