// SPDX-License-Identifier: GPL-3.0-or-later
// runtime.h with the CUDA runtime and cuBLAS.
#include "engine/base/error.h"
#include "kernels/cuda/backend/driver_release.h"
#include "kernels/cuda/runtime.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

namespace spanscope::cuda {

namespace {

/// Throws Failure unless `status` is a success. A sticky error of the GPU remains.
void check(cudaError_t status, const std::string& call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // the next call must not report this error again
  throw Failure(
      errorAt(call, std::string(cudaGetErrorName(status)) + ", " + cudaGetErrorString(status), "success"));
}

void check(cublasStatus_t status, const std::string& call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(errorAt(call, std::string(cublasGetStatusName(status)) + ", " + cublasGetStatusString(status),
                        "success"));
}

std::string bytesText(std::size_t bytes) {
  return std::to_string(bytes) + " bytes";
}

/// Shared memory of a thread block without a request.
constexpr std::size_t kPlainSharedBytes = 48U << 10U;

/// The version in the driver's module; empty if the module has none.
std::string driverReleaseHere() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return driverReleaseIn(line);
}

bool isDriverToldToCompile() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets environment variables.
  const char* const value = std::getenv("CUDA_FORCE_PTX_JIT");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

// ---- Device

struct Device::State {
  int index = 0;
  DeviceProperties properties;

  /// The runtime has one current GPU per thread. Each caller selects its GPU first.
  void select() const { check(cudaSetDevice(index), "cudaSetDevice(" + std::to_string(index) + ")"); }
  void selectQuietly() const noexcept { static_cast<void>(cudaSetDevice(index)); }
};

int deviceCount() {
  // Without a driver, the call below reports a driver that is too old.
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  if (driver == 0) throw Failure(errorAt("CUDA", "no driver for NVIDIA GPUs", "one"));
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

Device Device::open(int index) {
  const std::string call = "cudaGetDeviceProperties(" + std::to_string(index) + ")";
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), call);
  auto state = std::make_shared<State>();
  state->index = index;
  state->properties = {.name = properties.name,
                       .major = properties.major,
                       .minor = properties.minor,
                       .multiprocessors = properties.multiProcessorCount,
                       .memoryBytes = properties.totalGlobalMem,
                       .sharedBytesPerBlock = properties.sharedMemPerBlockOptin,
                       .driverRelease = driverReleaseHere(),
                       .isToldToCompile = isDriverToldToCompile()};
  check(cudaDriverGetVersion(&state->properties.driverVersion), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&state->properties.runtimeVersion), "cudaRuntimeGetVersion");
  std::string& products = state->properties.productsVersion;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    check(cublasGetProperty(part, &number), "cublasGetProperty");
    products += (products.empty() ? "cuBLAS " : ".") + std::to_string(number);
  }
  return Device(std::move(state));
}

const DeviceProperties& Device::properties() const {
  return m_state->properties;
}

std::size_t Device::freeBytes() const {
  m_state->select();
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

// ---- Memory

struct DeviceMemory::State {
  Device owner;
  std::size_t bytes = 0;
  void* data = nullptr;

  ~State() {
    owner.state().selectQuietly();
    cudaFree(data);
  }
};

DeviceMemory::DeviceMemory() = default;
DeviceMemory::DeviceMemory(const Device& device, std::size_t bytes, const std::string& what)
    : m_state(new State{.owner = device, .bytes = bytes}) {
  device.state().select();
  if (bytes > 0)
    check(cudaMalloc(&m_state->data, bytes), "cudaMalloc of " + bytesText(bytes) + " for " + what);
}
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;
std::size_t DeviceMemory::bytes() const {
  return m_state ? m_state->bytes : 0;
}
void* DeviceMemory::data() const {
  return m_state ? m_state->data : nullptr;
}

struct PinnedMemory::State {
  Device owner;
  std::size_t bytes = 0;
  void* data = nullptr;

  ~State() {
    owner.state().selectQuietly();
    cudaFreeHost(data);
  }
};

PinnedMemory::PinnedMemory() = default;
PinnedMemory::PinnedMemory(const Device& device, std::size_t bytes, const std::string& what)
    : m_state(new State{.owner = device, .bytes = bytes}) {
  device.state().select();
  if (bytes > 0)
    check(cudaMallocHost(&m_state->data, bytes), "cudaMallocHost of " + bytesText(bytes) + " for " + what);
}
PinnedMemory::~PinnedMemory() = default;
PinnedMemory::PinnedMemory(PinnedMemory&&) noexcept = default;
PinnedMemory& PinnedMemory::operator=(PinnedMemory&&) noexcept = default;
std::size_t PinnedMemory::bytes() const {
  return m_state ? m_state->bytes : 0;
}
void* PinnedMemory::data() const {
  return m_state ? m_state->data : nullptr;
}

// ---- Events

struct Event::State {
  Device owner;
  cudaEvent_t event = nullptr;

  ~State() {
    owner.state().selectQuietly();
    if (event != nullptr) cudaEventDestroy(event);
  }
};

Event::Event(const Device& device) : m_state(new State{.owner = device}) {
  device.state().select();
  check(cudaEventCreate(&m_state->event), "cudaEventCreate");
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

bool Event::reached() const {
  m_state->owner.state().select();
  const cudaError_t status = cudaEventQuery(m_state->event);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, "cudaEventQuery");
  return true;
}

void Event::synchronize() const {
  m_state->owner.state().select();
  check(cudaEventSynchronize(m_state->event), "cudaEventSynchronize");
}

double Event::millisecondsSince(const Event& earlier) const {
  m_state->owner.state().select();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier.m_state->event, m_state->event), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds);
}

// ---- Graphs

struct Graph::State {
  Device owner;
  cudaGraphExec_t graph = nullptr;

  ~State() {
    owner.state().selectQuietly();
    if (graph != nullptr) cudaGraphExecDestroy(graph);
  }
};

Graph::Graph(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

// ---- Streams

struct Stream::State {
  Device owner;
  cudaStream_t stream = nullptr;

  ~State() {
    owner.state().selectQuietly();
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
};

Stream::Stream(const Device& device) : m_state(new State{.owner = device}) {
  device.state().select();
  check(cudaStreamCreateWithFlags(&m_state->stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

namespace {

void copy(const Stream::State& stream, void* target, const void* source, std::size_t bytes,
          cudaMemcpyKind kind, const char* what) {
  if (bytes == 0) return;
  stream.owner.state().select();
  check(cudaMemcpyAsync(target, source, bytes, kind, stream.stream),
        "cudaMemcpyAsync of " + bytesText(bytes) + " " + what);
}

}  // namespace

void Stream::copyToDevice(void* target, const void* source, std::size_t bytes) {
  copy(*m_state, target, source, bytes, cudaMemcpyHostToDevice, "to the GPU");
}
void Stream::copyToHost(void* target, const void* source, std::size_t bytes) {
  copy(*m_state, target, source, bytes, cudaMemcpyDeviceToHost, "from the GPU");
}
void Stream::copyOnDevice(void* target, const void* source, std::size_t bytes) {
  copy(*m_state, target, source, bytes, cudaMemcpyDeviceToDevice, "on the GPU");
}

void Stream::fill(void* target, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  m_state->owner.state().select();
  check(cudaMemsetAsync(target, value, bytes, m_state->stream), "cudaMemsetAsync of " + bytesText(bytes));
}

void Stream::launch(const KernelCall& call) {
  const LaunchShape& shape = call.shape;
  const Grid& grid = shape.grid;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const std::string text = std::string("kernel ") + call.name + ", grid " + std::to_string(grid.x) + " × " +
                           std::to_string(grid.y) + " × " + std::to_string(grid.z) + ", " +
                           std::to_string(shape.threads) + " threads, " + bytesText(shape.sharedBytes) +
                           " of shared memory";
  const std::size_t most = m_state->owner.properties().sharedBytesPerBlock;
  if (shape.sharedBytes > most)
    throw Failure(errorAt(text, "more shared memory", "at most " + bytesText(most)));
  m_state->owner.state().select();
  if (shape.sharedBytes > kPlainSharedBytes) {
    check(cudaFuncSetAttribute(call.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.sharedBytes)),
          "cudaFuncSetAttribute: " + text);
  }
  const auto size = [](int count) { return static_cast<unsigned>(count); };
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the runtime reads them only.
  void* arguments[] = {const_cast<void*>(call.arguments)};
  check(cudaLaunchKernel(call.kernel, dim3(size(grid.x), size(grid.y), size(grid.z)),
                         dim3(size(shape.threads)), arguments, shape.sharedBytes, m_state->stream),
        "cudaLaunchKernel: " + text);
}

void Stream::record(Event& event) {
  m_state->owner.state().select();
  check(cudaEventRecord(event.state().event, m_state->stream), "cudaEventRecord");
}

void Stream::wait(const Event& event) {
  m_state->owner.state().select();
  check(cudaStreamWaitEvent(m_state->stream, event.state().event, 0), "cudaStreamWaitEvent");
}

void Stream::synchronize() {
  m_state->owner.state().select();
  check(cudaStreamSynchronize(m_state->stream), "cudaStreamSynchronize");
}

Graph Stream::capture(const std::function<void()>& work) {
  m_state->owner.state().select();
  // NOLINTNEXTLINE(modernize-make-unique): an aggregate takes names in braces only.
  auto state = std::unique_ptr<Graph::State>(new Graph::State{.owner = m_state->owner});
  check(cudaStreamBeginCapture(m_state->stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t recorded = nullptr;
  try {
    work();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(m_state->stream, &recorded));
    if (recorded != nullptr) cudaGraphDestroy(recorded);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(m_state->stream, &recorded), "cudaStreamEndCapture");
  const cudaError_t status = cudaGraphInstantiate(&state->graph, recorded, 0);
  cudaGraphDestroy(recorded);
  check(status, "cudaGraphInstantiate");
  return Graph(std::move(state));
}

void Stream::replay(const Graph& graph) {
  m_state->owner.state().select();
  check(cudaGraphLaunch(graph.state().graph, m_state->stream), "cudaGraphLaunch");
}

// ---- Matrix products

struct MatrixProducts::State {
  Device owner;
  cublasHandle_t handle = nullptr;
  DeviceMemory workspace = {};  ///< a separate workspace, so that graphs may contain its address

  ~State() {
    owner.state().selectQuietly();
    if (handle != nullptr) cublasDestroy(handle);
  }
};

MatrixProducts::MatrixProducts(const Device& device) : m_state(new State{.owner = device}) {
  device.state().select();
  check(cublasCreate(&m_state->handle), "cublasCreate");
  m_state->workspace = DeviceMemory(device, kProductWorkspaceBytes, "the workspace of cuBLAS");
}
MatrixProducts::~MatrixProducts() = default;
MatrixProducts::MatrixProducts(MatrixProducts&&) noexcept = default;
MatrixProducts& MatrixProducts::operator=(MatrixProducts&&) noexcept = default;

void MatrixProducts::run(Stream& stream, const MatrixProduct& product) {
  if (product.rows == 0 || product.columns == 0) return;
  const std::string text = "cublasGemmEx, " + std::to_string(product.rows) + " × " +
                           std::to_string(product.columns) + " × " + std::to_string(product.depth);
  m_state->owner.state().select();
  check(cublasSetStream(m_state->handle, stream.state().stream), "cublasSetStream");
  // Setting the stream gives the handle its default workspace back.
  check(cublasSetWorkspace(m_state->handle, m_state->workspace.data(), m_state->workspace.bytes()),
        "cublasSetWorkspace");
  const float alpha = 1;
  const float beta = product.accumulate ? 1 : 0;
  // cuBLAS counts by columns. A row-major matrix here is a transposed matrix for cuBLAS.
  check(cublasGemmEx(m_state->handle, CUBLAS_OP_T, CUBLAS_OP_N, product.columns, product.rows, product.depth,
                     &alpha, product.weight, CUDA_R_16BF, static_cast<int>(product.weightStride), product.x,
                     CUDA_R_16BF, static_cast<int>(product.xStride), &beta, product.out,
                     product.outIsFloat ? CUDA_R_32F : CUDA_R_16BF, static_cast<int>(product.outStride),
                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        text);
}

}  // namespace spanscope::cuda
