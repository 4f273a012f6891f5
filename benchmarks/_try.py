import torch,sys
from benchmarks.lookahead import *
from fairway.kernels.lookahead import gpu
d='cuda'; B,P,n=256,100,100
b=drawn(n,B,d); k=table(b)
t=seconds(lambda: gpu.ranks(k),'cuda'); print('ranks',t*1e3,'ms'); r=gpu.ranks(k)
for steps in (0,30,60,90):
    s=midway(b,P,steps)
    for rule,name in ((ONE,'one'),(TWO,'two')):
        t=launched(lambda: gpu.lookahead(r,s,rule),20)
        e=dense.lookahead(k,s,rule); f=gpu.lookahead(r,s,rule)
        print(steps,name,f'{t*1e6:.1f} us', torch.equal(e.allowed,f.allowed), torch.equal(e.bound,f.bound))
for blk in (128,256,512,1024):
    gpu.BLOCK=blk
    s=midway(b,P,30)
    print(blk,[f'{launched(lambda: gpu.lookahead(r,s,rr),20)*1e6:.1f}' for rr in (ONE,TWO)])
from torch.profiler import profile, ProfilerActivity
gpu.BLOCK=256
with profile(activities=[ProfilerActivity.CUDA]) as pr:
    for _ in range(5): gpu.lookahead(r,s,TWO)
print(pr.key_averages().table(sort_by='cuda_time_total',row_limit=8,max_name_column_width=30))
