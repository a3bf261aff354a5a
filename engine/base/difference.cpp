// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/difference.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace spanscope {
namespace {

using Index = std::int64_t;

/// Max number of changes. Time and memory of the search grow with the square of this number, here up to 32
/// MB.
constexpr Index kMostChanges = 4000;

/// The entries between the common beginning and the common end.
struct Middle {
  std::size_t begin = 0;
  Index left = 0;   ///< entries on the left
  Index right = 0;  ///< entries on the right
  const std::function<bool(std::size_t, std::size_t)>& isSame;

  bool same(Index x, Index y) const {
    return isSame(begin + static_cast<std::size_t>(x), begin + static_cast<std::size_t>(y));
  }
};

/// Myers' search, from the end. For each number of changes, the search finds the lowest reachable x on each
/// diagonal. A place is the number of earlier entries on the left (x) and on the right (y). A diagonal is x −
/// y.
class Reach {
 public:
  explicit Reach(const Middle& middle) : m_middle(middle), m_last(middle.left - middle.right) {}

  /// Returns the number of changes, or nothing if there are too many.
  std::optional<Index> search() {
    const Index most = std::min(m_middle.left + m_middle.right, kMostChanges);
    for (Index changes = 0; changes <= most; ++changes) {
      std::vector<std::int32_t> row;
      row.reserve(static_cast<std::size_t>(changes) + 1);
      for (Index k = m_last - changes; k <= m_last + changes; k += 2)
        row.push_back(static_cast<std::int32_t>(slide(start(k, changes), k)));
      m_rows.push_back(std::move(row));
      if (isWithin(0, 0, changes)) return changes;
    }
    return std::nullopt;
  }

  /// Whether the end can be reached from a place with this number of changes. On one diagonal, the number of
  /// changes is always odd or always even.
  bool isWithin(Index x, Index y, Index changes) const { return x >= at(x - y, changes); }

 private:
  static constexpr Index kNowhere = std::numeric_limits<std::int32_t>::max();

  Index at(Index k, Index changes) const {
    const Index aside = k - m_last + changes;
    if (changes < 0 || aside < 0 || aside > 2 * changes || aside % 2 != 0) return kNowhere;
    return m_rows[static_cast<std::size_t>(changes)][static_cast<std::size_t>(aside / 2)];
  }

  /// Returns the lowest x on a diagonal that can be reached with one more change.
  Index start(Index k, Index changes) const {
    if (changes == 0) return m_middle.left;
    const Index right = at(k - 1, changes - 1);
    const Index left = at(k + 1, changes - 1);
    Index x = kNowhere;
    if (right != kNowhere && right - (k - 1) >= 1) x = right;
    if (left != kNowhere && left >= 1) x = std::min(x, left - 1);
    return x;
  }

  Index slide(Index x, Index k) const {
    if (x == kNowhere) return x;
    while (x > 0 && x - k > 0 && m_middle.same(x - 1, x - k - 1)) --x;
    return x;
  }

  const Middle& m_middle;
  Index m_last;  ///< the diagonal of the end
  std::vector<std::vector<std::int32_t>> m_rows;
};

void addMiddle(const Middle& middle, std::vector<DifferenceStep>& steps) {
  Index x = 0;
  Index y = 0;
  const auto placeOf = [&middle](Index at) { return middle.begin + static_cast<std::size_t>(at); };
  Reach reach(middle);
  if (std::optional<Index> changes = reach.search()) {
    while (x < middle.left && y < middle.right) {
      if (middle.same(x, y)) {
        steps.push_back({StandsOn::Both, placeOf(x++), placeOf(y++)});
      } else if (reach.isWithin(x + 1, y, --*changes)) {
        steps.push_back({StandsOn::Left, placeOf(x++), 0});
      } else {
        steps.push_back({StandsOn::Right, 0, placeOf(y++)});
      }
    }
  }
  while (x < middle.left) steps.push_back({StandsOn::Left, placeOf(x++), 0});
  while (y < middle.right) steps.push_back({StandsOn::Right, 0, placeOf(y++)});
}

}  // namespace

std::vector<DifferenceStep> differenceOf(std::size_t leftSize, std::size_t rightSize,
                                         const std::function<bool(std::size_t, std::size_t)>& isSame) {
  const std::size_t shorter = std::min(leftSize, rightSize);
  std::size_t head = 0;
  while (head < shorter && isSame(head, head)) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head && isSame(leftSize - 1 - tail, rightSize - 1 - tail)) ++tail;

  std::vector<DifferenceStep> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({StandsOn::Both, i, i});
  addMiddle(
      {head, static_cast<Index>(leftSize - head - tail), static_cast<Index>(rightSize - head - tail), isSame},
      steps);
  for (std::size_t i = tail; i > 0; --i) steps.push_back({StandsOn::Both, leftSize - i, rightSize - i});
  return steps;
}

}  // namespace spanscope
