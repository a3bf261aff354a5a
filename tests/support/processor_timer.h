// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ctime>

namespace spanscope::test {

/// Measures work: the time of this process on processors, which a busy machine does not stretch as it does
/// the time on the clock. For tests that something ends, or is not quadratic.
class ProcessorTimer {
 public:
  void start() { m_start = std::clock(); }
  long long elapsed() const {  ///< milliseconds since start()
    return static_cast<long long>(std::clock() - m_start) * 1000 / CLOCKS_PER_SEC;
  }

 private:
  std::clock_t m_start = std::clock();
};

}  // namespace spanscope::test
