s/extern __shared__ (__align__\(16\) )?([a-z0-9_]+) ([a-z]+)\[\];/\2 *const \3 = static_cast<\2 *>(emulator::shared_memory());/
s/asm\("([a-z]+)\.approx\.ftz\.f(32|64) %0, %1;" : "=[fd]"\((\w+)\) : "[fd]"\((.*)\)\);/\3 = emulator::\1(\4);/
s/asm\("" : "\+[lr]"\(\w+\)\);//
