// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

namespace spanscope::plan {
namespace {

/// Whether `used` plus `times` × `each` stays within `limit`, without overflow.
bool fits(std::size_t used, std::size_t each, std::size_t times, std::size_t limit) {
  if (used > limit) return false;
  return each == 0 || times <= (limit - used) / each;
}

}  // namespace

bool RewriteState::grow(DraftSize each, std::size_t times) {
  const PlanLimits& limits = m_options->limits;
  if (m_exceeded || !fits(m_size.nodes, each.nodes, times, limits.nodes) ||
      !fits(m_size.textBytes, each.textBytes, times, limits.textBytes)) {
    m_exceeded = true;
    return false;
  }
  m_size.nodes += each.nodes * times;
  m_size.textBytes += each.textBytes * times;
  return true;
}

const std::vector<const Rule*>& rules() {
  static const std::vector<const Rule*> list = {&kFlattenRule, &kExpandRepeatRule, &kExpandMapRule, &kZipRule,
                                                &kDistributeRule};
  return list;
}

}  // namespace spanscope::plan
