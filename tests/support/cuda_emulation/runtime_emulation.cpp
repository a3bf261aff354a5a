// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "tests/support/cuda_emulation/device_state.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace spanscope::cuda {

using emulation::Operation;
using emulation::Point;

namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostGridRows = 65535;
/// What a block may have on every card from compute capability 8.0 on.
constexpr std::size_t kMostSharedBytes = 99U << 10U;

[[noreturn]] void fail(const std::string& call, const std::string& found, const std::string& expected) {
  throw Failure(errorAt(call, found, expected));
}

std::string bytesText(std::size_t bytes) {
  return std::to_string(bytes) + " bytes";
}

}  // namespace

// ---- The machine

namespace {

/// What all cards share.
struct Machine {
  std::mutex mutex;
  std::vector<DeviceProperties> cards = {emulation::usualDevice()};
  emulation::ThreadOrder order = emulation::ThreadOrder::Ascending;  ///< that cards are opened with
  emulation::MachineCounts counts;

  void count(std::size_t emulation::MachineCounts::*what) {
    const std::lock_guard lock(mutex);
    ++(counts.*what);
  }
};

Machine& machine() {
  static Machine only;
  return only;
}

}  // namespace

DeviceProperties emulation::usualDevice() {
  return {.name = "emulated card",
          .major = 8,
          .minor = 0,
          .multiprocessors = 4,
          .memoryBytes = EmulationOptions().memoryBytes,
          .sharedBytesPerBlock = kMostSharedBytes,
          .driverVersion = 0,
          .runtimeVersion = 0,
          .productsVersion = "a reference product"};
}

emulation::PluggedDevices::PluggedDevices(std::vector<DeviceProperties> cards, ThreadOrder order) {
  const std::lock_guard lock(machine().mutex);
  machine().cards = std::move(cards);
  machine().order = order;
}

emulation::PluggedDevices::~PluggedDevices() {
  const std::lock_guard lock(machine().mutex);
  machine().cards = {usualDevice()};
  machine().order = ThreadOrder::Ascending;
}

emulation::MachineCounts emulation::machineCounts() {
  const std::lock_guard lock(machine().mutex);
  return machine().counts;
}

// ---- Device

int deviceCount() {
  const std::lock_guard lock(machine().mutex);
  return static_cast<int>(machine().cards.size());
}

Device Device::open(int index) {
  const std::lock_guard lock(machine().mutex);
  const std::vector<DeviceProperties>& cards = machine().cards;
  if (index < 0 || index >= static_cast<int>(cards.size()))
    fail("opening a card", "number " + std::to_string(index), "one of " + std::to_string(cards.size()));
  auto state = std::make_shared<State>();
  state->properties = cards[static_cast<std::size_t>(index)];
  state->options.memoryBytes = state->properties.memoryBytes;
  state->options.order = machine().order;
  return Device(std::move(state));
}

const DeviceProperties& Device::properties() const {
  return m_state->properties;
}

std::size_t Device::freeBytes() const {
  m_state->use();
  return m_state->options.memoryBytes - m_state->usedBytes;
}

void Device::State::use() {
  if (!isInUse) machine().count(&emulation::MachineCounts::contexts);
  isInUse = true;
}

void Device::State::checkThatNobodyRecords(const std::string& call) const {
  if (recordings > 0) fail(call, "a stream that records a graph", "no such call until the graph is whole");
}

void Device::State::checkRange(const std::string& call, const void* begin, std::size_t bytes) const {
  const auto holds = [&](const DeviceMemory::State* memory) { return memory->memory.holds(begin, bytes); };
  if (bytes > 0 && std::none_of(memories.begin(), memories.end(), holds))
    fail(call, bytesText(bytes) + " outside of the memory of the card", "a part of what it gave out");
}

void Device::State::checkGuards() const {
  for (const DeviceMemory::State* memory : memories) {
    if (!memory->memory.isIntact())
      fail("memory of the card for " + memory->what,
           "a write beside its " + bytesText(memory->memory.bytes()), "none");
  }
}

void Device::State::finishAll() {
  for (Stream::State* stream : streams) stream->finish();
}

emulation::EmulationOptions& emulation::optionsOf(const Device& device) {
  return device.state().options;
}

std::size_t emulation::launchesOf(const Device& device) {
  return device.state().launches;
}

// ---- Memory

DeviceMemory::State::State(const Device& device, std::size_t bytes, std::string purpose)
    : owner(device), what(std::move(purpose)), memory(bytes) {
  owner.state().memories.insert(this);
  owner.state().usedBytes += bytes;
}

DeviceMemory::State::~State() {
  try {
    owner.state().finishAll();
  } catch (...) {
    // Waiters for a stream are notified; there can be none here.
  }
  owner.state().memories.erase(this);
  owner.state().usedBytes -= memory.bytes();
}

DeviceMemory::DeviceMemory() = default;
DeviceMemory::DeviceMemory(const Device& device, std::size_t bytes, const std::string& what) {
  device.state().checkThatNobodyRecords("memory of the card for " + what);
  if (bytes > device.freeBytes())
    fail("memory of the card for " + what, bytesText(bytes), "at most " + bytesText(device.freeBytes()));
  m_state = std::make_unique<State>(device, bytes, what);
}
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;
std::size_t DeviceMemory::bytes() const {
  return m_state ? m_state->memory.bytes() : 0;
}
void* DeviceMemory::data() const {
  return m_state ? m_state->memory.data() : nullptr;
}

PinnedMemory::PinnedMemory() = default;
PinnedMemory::PinnedMemory(const Device& device, std::size_t bytes, const std::string& what) {
  device.state().use();
  device.state().checkThatNobodyRecords("memory of the host for " + what);
  m_state = std::make_unique<State>(bytes);
}
PinnedMemory::~PinnedMemory() = default;
PinnedMemory::PinnedMemory(PinnedMemory&&) noexcept = default;
PinnedMemory& PinnedMemory::operator=(PinnedMemory&&) noexcept = default;
std::size_t PinnedMemory::bytes() const {
  return m_state ? m_state->memory.bytes() : 0;
}
void* PinnedMemory::data() const {
  return m_state ? m_state->memory.data() : nullptr;
}

// ---- Events

Event::Event(const Device& device) : m_state(std::make_unique<State>()) {
  device.state().use();
  machine().count(&emulation::MachineCounts::events);
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

bool Event::reached() const {
  if (!m_state->point) return true;
  // Repeated queries reach the end.
  if (!m_state->point->reached) m_state->point->stream->step();
  return m_state->point->reached;
}

void Event::synchronize() const {
  while (!reached()) {
  }
}

double Event::millisecondsSince(const Event& earlier) const {
  const auto wasReached = [](const Event& event) {
    return event.m_state->point && event.m_state->point->reached;
  };
  if (!wasReached(*this) || !wasReached(earlier))
    fail("time between events", "one that was not reached", "two that were");
  return std::chrono::duration<double, std::milli>(m_state->point->time - earlier.m_state->point->time)
      .count();
}

// ---- Graphs

Graph::Graph(std::unique_ptr<State> state) : m_state(std::move(state)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

// ---- Streams

Stream::State::State(const Device& device) : owner(device) {
  owner.state().use();
  owner.state().streams.insert(this);
}

Stream::State::~State() {
  try {
    finish();
  } catch (...) {
    // The work was given away unseen; nobody waits for it.
  }
  owner.state().streams.erase(this);
}

void Stream::State::add(Operation operation) {
  if (recording != nullptr) {
    recording->push_back(std::move(operation));
  } else {
    operations.push_back(std::move(operation));
  }
}

bool Stream::State::step() {
  if (operations.empty()) return false;
  const Operation operation = std::move(operations.front());
  operations.pop_front();
  try {
    operation();
    owner.state().checkGuards();
  } catch (...) {
    operations.clear();
    throw;
  }
  return true;
}

void Stream::State::finish() {
  while (step()) {
  }
}

Stream::Stream(const Device& device) : m_state(std::make_unique<State>(device)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

namespace {

bool hasUnwrittenWord(const std::byte* bytes, std::size_t count) {
  constexpr std::size_t kWord = 4;
  std::uint32_t unwritten = 0;
  std::memset(&unwritten, emulation::kUnwritten, kWord);
  for (std::size_t i = 0; i + kWord <= count; i += kWord) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + i, kWord);
    if (word == unwritten) return true;
  }
  return false;
}

}  // namespace

void Stream::copyToDevice(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  Device::State& device = m_state->owner.state();
  device.checkRange("copying to the card", target, bytes);
  m_state->add([=] { std::memcpy(target, source, bytes); });
}

void Stream::copyToHost(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  Device::State& device = m_state->owner.state();
  device.checkRange("copying from the card", source, bytes);
  m_state->add([=] {
    std::memcpy(target, source, bytes);
    if (hasUnwrittenWord(static_cast<const std::byte*>(target), bytes))
      machine().count(&emulation::MachineCounts::unwritten);
  });
}

void Stream::copyOnDevice(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  Device::State& device = m_state->owner.state();
  device.checkRange("copying on the card, source", source, bytes);
  device.checkRange("copying on the card, target", target, bytes);
  m_state->add([=] { std::memmove(target, source, bytes); });
}

void Stream::fill(void* target, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  m_state->owner.state().checkRange("filling memory of the card", target, bytes);
  m_state->add([=] { std::memset(target, value, bytes); });
}

void Stream::launch(const KernelCall& call) {
  const LaunchShape& shape = call.shape;
  const std::string kernel = std::string("kernel ") + call.name;
  if (shape.threads <= 0 || shape.threads > kMostThreads || shape.threads % emulation::kLanes != 0)
    fail(kernel, std::to_string(shape.threads) + " threads a block", "a multiple of 32 up to 1024");
  if (shape.sharedBytes > m_state->owner.properties().sharedBytesPerBlock) {
    fail(kernel, bytesText(shape.sharedBytes) + " of shared memory",
         "at most " + bytesText(m_state->owner.properties().sharedBytesPerBlock));
  }
  const Grid& grid = shape.grid;
  if (grid.x < 0 || grid.y < 0 || grid.z < 0 || grid.y > kMostGridRows || grid.z > kMostGridRows) {
    fail(kernel,
         "a grid of " + std::to_string(grid.x) + " × " + std::to_string(grid.y) + " × " +
             std::to_string(grid.z),
         "at most 65535 in the second and third dimension");
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const auto* const begin = static_cast<const std::byte*>(call.arguments);
  std::vector<std::byte> arguments(begin, begin + call.argumentBytes);
  Device::State& device = m_state->owner.state();
  m_state->add([&device, call, arguments = std::move(arguments)] {
    KernelCall own = call;
    own.arguments = arguments.data();
    ++device.launches;
    device.runner.run(own, device.options);
  });
}

void Stream::record(Event& event) {
  auto point = std::make_shared<Point>();
  point->stream = m_state.get();
  event.state().point = point;
  m_state->add([point] {
    point->reached = true;
    point->time = std::chrono::steady_clock::now();
  });
}

void Stream::wait(const Event& event) {
  const std::shared_ptr<Point> point = event.state().point;
  if (!point) return;
  m_state->add([point] {
    while (!point->reached && point->stream->step()) {
    }
  });
}

void Stream::synchronize() {
  m_state->owner.state().checkThatNobodyRecords("waiting for a stream");
  if (!m_state->operations.empty()) machine().count(&emulation::MachineCounts::waits);
  m_state->finish();
}

Graph Stream::capture(const std::function<void()>& work) {
  auto state = std::make_unique<Graph::State>();
  Device::State& device = m_state->owner.state();
  device.checkThatNobodyRecords("recording a graph");
  m_state->recording = &state->operations;
  ++device.recordings;
  const auto end = [&] {
    m_state->recording = nullptr;
    --device.recordings;
  };
  try {
    work();
  } catch (...) {
    end();
    throw;
  }
  end();
  return Graph(std::move(state));
}

void Stream::replay(const Graph& graph) {
  for (const Operation& operation : graph.state().operations) m_state->add(operation);
}

}  // namespace spanscope::cuda
