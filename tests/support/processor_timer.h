// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ctime>

namespace spanscope::test {

/// Measures work as the processor time of this process. Unlike time on the clock, a busy machine does not
/// stretch it. It is for tests that something ends, or is not quadratic.
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
