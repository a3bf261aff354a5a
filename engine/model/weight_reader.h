// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and checks the data of all tensors on other threads. Open this file to change how loading checks
// weights.
#pragma once

#include "engine/base/hash.h"
#include "engine/compute/backend.h"
#include "engine/model/weights.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace spanscope::model {

/// Reads the data of tensors once, on its own threads, while its owner continues. Searches for values that
/// are not finite. Hashes the data on request. If the system starts no threads, the caller reads.
class WeightReader {
 public:
  /// `source` has all tensors and must outlive the reader. `threads` is the number of reading threads, at
  /// least one.
  WeightReader(const WeightSource& source, int threads, bool hashes);
  ~WeightReader();
  WeightReader(const WeightReader&) = delete;
  WeightReader& operator=(const WeightReader&) = delete;
  WeightReader(WeightReader&&) = delete;
  WeightReader& operator=(WeightReader&&) = delete;

  /// Schedules the reading of a tensor. Call this function once for each tensor. Throws the Failure of an
  /// earlier tensor, if there is one.
  void add(const std::string& name, const compute::HostMatrix& matrix);
  /// Waits until all tensors are read. Throws Failure for the first tensor, in order of add(), with a value
  /// that is not finite. Throws Failure if a file was truncated.
  void finish();
  /// Returns the digest of names and data of all tensors in order of add(), after finish(). Empty unless the
  /// reader hashes.
  std::string digest() const;

 private:
  struct Tensor {
    std::string name;
    compute::HostMatrix matrix;
    Hash128 hash;
    std::optional<Error> fault;
  };

  void read(Tensor& tensor) const;
  void work();
  void throwFirst();

  const WeightSource& m_source;
  const std::size_t m_most;
  const bool m_hashes;
  std::deque<Tensor> m_tensors;  ///< addresses do not change; the mutex guards the list, and the thread that
                                 ///< reads a tensor owns it
  std::size_t m_next = 0;
  std::atomic<bool> m_isFaulty = false;
  bool m_isEnding = false;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::thread> m_threads;  ///< last: the threads use all members above
};

/// The place of a NaN or an infinite number in a matrix.
struct NotFinite {
  std::size_t index = 0;  ///< number of elements before it
  float value = 0;
};

/// Returns the first number that is not finite, or nothing. The search runs at about the speed of memory.
std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix);
std::optional<NotFinite> findNotFinite(std::span<const float> values);

/// Returns "nan" or "an infinite number".
const char* describe(const NotFinite& found);

}  // namespace spanscope::model
