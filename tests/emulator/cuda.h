// What apsis uses of CUDA's driver: the stack of contexts of a thread, and the shared memory that a kernel is allowed.
#pragma once

typedef struct CUctx_st *CUcontext;
typedef int CUdevice;
typedef struct CUfunc_st *CUfunction;
enum CUfunction_attribute { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };

CUresult cuInit(unsigned flags);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext *context);
CUresult cuFuncSetAttribute(CUfunction kernel, CUfunction_attribute attribute, int value);
