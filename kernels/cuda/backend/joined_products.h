// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/product/few_row_product.h"

namespace spanscope::cuda {

/// Products of few rows that wait to become one launch. They have the same x, and their number is at most
/// kMostFewRowWeights. Joined products give exactly the results that they would give one after the other,
/// because none writes what another one reads or writes. The object holds only pointers. Its owner must keep
/// them valid, and must not let later work overtake the products.
class JoinedProducts {
 public:
  /// Adds a product that the kernel can compute. Returns false, and changes nothing, if it cannot be joined
  /// with the waiting products. If none waits, a product can always be added.
  bool join(const FewRowProduct& product);

  bool isEmpty() const { return m_waiting.count == 0; }
  /// Takes all waiting products out.
  FewRowProduct take();
  void clear() { m_waiting = {}; }

 private:
  FewRowProduct m_waiting;
};

}  // namespace spanscope::cuda
