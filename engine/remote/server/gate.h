// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

namespace spanscope::server {

/// Limits how much is in use at once. Those that need more than is free wait, and enter in the order in which
/// they came. Any thread may call any function.
class Gate {
 public:
  /// `most`: at least 1, in any unit.
  explicit Gate(std::uint64_t most) : m_most(most) {}

  /// A share that is in use until this object ends. Move-only; an empty one uses nothing.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept
        : m_gate(std::exchange(other.m_gate, nullptr)), m_amount(std::exchange(other.m_amount, 0)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(m_gate, other.m_gate);
      std::swap(m_amount, other.m_amount);
      return *this;
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() { reduceTo(0); }

    explicit operator bool() const { return m_gate != nullptr; }
    /// Gives back what is more than `amount`.
    void reduceTo(std::uint64_t amount);

   private:
    friend class Gate;
    Pass(Gate* gate, std::uint64_t amount) : m_gate(gate), m_amount(amount) {}

    Gate* m_gate = nullptr;
    std::uint64_t m_amount = 0;
  };

  /// Waits until `amount` is free and everybody who came earlier has entered. More than the limit counts as
  /// the limit. `gaveUp` is called before and while it waits, about 20 times a second, and must not throw: if
  /// it returns true, the result is an empty pass.
  Pass enter(std::uint64_t amount, const std::function<bool()>& gaveUp);
  /// How many wait.
  std::size_t waiting();

 private:
  void leave(std::uint64_t amount);

  const std::uint64_t m_most;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::uint64_t m_used = 0;
  std::list<std::uint64_t> m_queue;  ///< amounts of those that wait, in order
};

}  // namespace spanscope::server
