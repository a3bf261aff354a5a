// SPDX-License-Identifier: GPL-3.0-or-later
// The host's state for the handles of runtime.h.
#pragma once

#include "tests/support/cuda_emulation/block.h"
#include "tests/support/cuda_emulation/emulation.h"

#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::cuda {

namespace emulation {

using Operation = std::function<void()>;

/// A point in the work of a stream.
struct Point {
  Stream::State* stream = nullptr;
  bool reached = false;
  std::chrono::steady_clock::time_point time;
};

}  // namespace emulation

struct DeviceMemory::State {
  State(const Device& device, std::size_t bytes, std::string purpose);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Device owner;
  std::string what;
  emulation::GuardedMemory memory;
};

struct PinnedMemory::State {
  explicit State(std::size_t bytes) : memory(bytes) {}
  emulation::GuardedMemory memory;
};

struct Event::State {
  std::shared_ptr<emulation::Point> point;  ///< null until the event is recorded
};

struct Graph::State {
  std::vector<emulation::Operation> operations;
};

struct Stream::State {
  explicit State(const Device& device);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void add(emulation::Operation operation);
  bool step();  ///< runs the oldest operation; returns false if there is none
  void finish();

  Device owner;
  std::deque<emulation::Operation> operations;
  std::vector<emulation::Operation>* recording = nullptr;
};

struct Device::State {
  DeviceProperties properties;
  emulation::EmulationOptions options;
  emulation::BlockRunner runner;
  bool isInUse = false;  ///< the card has a context
  std::set<Stream::State*> streams;
  std::set<DeviceMemory::State*> memories;
  std::size_t usedBytes = 0;
  std::size_t launches = 0;
  int recordings = 0;  ///< number of streams that are recording

  /// Makes the context if there is none yet.
  void use();
  /// Throws Failure if a stream is recording.
  void checkThatNobodyRecords(const std::string& call) const;
  /// Throws Failure unless the bytes lie in the card's memory.
  void checkRange(const std::string& call, const void* begin, std::size_t bytes) const;
  /// Throws Failure if something was written outside the card's memory.
  void checkGuards() const;
  void finishAll();
};

}  // namespace spanscope::cuda
