// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/product/few_row_product.h"

namespace spanscope::cuda {

/// Products of few rows that wait to become one launch: of the same x, at most kMostFewRowWeights of them.
/// Those that are joined give to the bit what they would give one after the other: none writes what another
/// one reads or writes. It holds pointers alone: whoever has it sees to it that they stay good, and that what
/// comes behind the products does not overtake them.
class JoinedProducts {
 public:
  /// Adds a product that the kernel takes. False, and nothing changed, if it cannot be joined with those that
  /// wait; one always can be where none waits.
  bool join(const FewRowProduct& product);

  bool isEmpty() const { return m_waiting.count == 0; }
  /// What waits, and waits no more.
  FewRowProduct take();
  void clear() { m_waiting = {}; }

 private:
  FewRowProduct m_waiting;
};

}  // namespace spanscope::cuda
