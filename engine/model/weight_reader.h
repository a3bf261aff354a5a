// SPDX-License-Identifier: GPL-3.0-or-later
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

/// Reads the data of tensors once, on threads of its own, while its owner goes on: looks for values that are
/// not finite, and hashes what it reads if that is asked for. Where the system starts no threads, the caller
/// reads.
class WeightReader {
 public:
  /// `source`: of all tensors; it must outlive the reader. `threads`: how many read; at least one.
  WeightReader(const WeightSource& source, int threads, bool hashes);
  ~WeightReader();
  WeightReader(const WeightReader&) = delete;
  WeightReader& operator=(const WeightReader&) = delete;
  WeightReader(WeightReader&&) = delete;
  WeightReader& operator=(WeightReader&&) = delete;

  /// Reads a tensor soon. Each only once. Throws the Failure of a tensor that was added before, if there is
  /// one already.
  void add(const std::string& name, const compute::HostMatrix& matrix);
  /// Waits until all is read. Throws Failure that names the first tensor, as they were added, with a value
  /// that is not finite, or says that a file was cut.
  void finish();
  /// After finish(): of names and data of all tensors, in the order in which they were added; empty unless it
  /// hashes.
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
  std::deque<Tensor>
      m_tensors;  ///< places stay; the mutex guards the list, each tensor belongs to who reads it
  std::size_t m_next = 0;
  std::atomic<bool> m_isFaulty = false;
  bool m_isEnding = false;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::thread> m_threads;  ///< last: they use all of the above
};

/// The place of a NaN or an infinite number in a matrix.
struct NotFinite {
  std::size_t index = 0;  ///< number of elements before it
  float value = 0;
};

/// The first number that is not finite; nothing if all are finite. The search runs at about the speed of
/// memory.
std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix);
std::optional<NotFinite> findNotFinite(std::span<const float> values);

/// Returns "nan" or "an infinite number".
const char* describe(const NotFinite& found);

}  // namespace spanscope::model
