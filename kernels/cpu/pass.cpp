// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/pass.h"

#include "engine/base/error.h"
#include "engine/compute/narrowing.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace spanscope::cpu {
namespace {

[[noreturn]] void refuse(const char* what, std::int64_t found, const std::string& expected) {
  throw Failure(Error{"", std::string("pass, ") + what, std::to_string(found), expected});
}

/// The inputs, once their lists are known to fit each other.
const compute::PassInputs& checked(const compute::PassInputs& inputs, const compute::KvShape& store) {
  const std::size_t rows = inputs.tokens.size();
  if (inputs.localIndices.size() != rows || inputs.slots.size() != rows) {
    throw Failure(Error{"", "pass", "lists of different lengths",
                        "a token, a local index and a slot for each of " + std::to_string(rows) + " rows"});
  }
  const std::int64_t slotCount = std::int64_t{store.blocks} * store.blockSize;
  for (const std::int64_t slot : inputs.slots) {
    if (slot < 0 || slot >= slotCount) refuse("slot", slot, "0 to " + std::to_string(slotCount - 1));
  }
  for (const std::int32_t index : inputs.localIndices) {
    if (index < 0) refuse("local index", index, "at least 0");
  }
  for (const auto* list : {&inputs.logitRows, &inputs.hiddenRows}) {
    for (const std::int32_t row : *list) {
      if (row < 0 || static_cast<std::size_t>(row) >= rows)
        refuse("row that is wanted", row, "less than " + std::to_string(rows));
    }
  }
  for (const compute::Draw& draw : inputs.draws) {
    if (draw.logits < 0 || static_cast<std::size_t>(draw.logits) >= inputs.logitRows.size())
      refuse("draw", draw.logits, "one of " + std::to_string(inputs.logitRows.size()) + " rows of logits");
  }
  return inputs;
}

}  // namespace

CpuPass::CpuPass(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                 const compute::KvShape& store, const compute::PassInputs& inputs, RotaryCache& cache)
    : m_tokens(checked(inputs, store).tokens),
      m_slots(inputs.slots),
      m_attention(shape, rotary, store, inputs, cache),
      m_mass(inputs.mass),
      m_draws(inputs.draws) {
  takeWanted(inputs);
  rotateKeys(rotary, inputs.localIndices, cache);
  if (inputs.keptRows.empty()) return;
  compute::checkNarrowing(inputs);
  m_wide = Wide{shape, rotary, store, inputs};
}

void CpuPass::takeWanted(const compute::PassInputs& inputs) {
  m_wantedRows = inputs.logitRows;
  m_wantedRows.insert(m_wantedRows.end(), inputs.hiddenRows.begin(), inputs.hiddenRows.end());
  m_firstRows.resize(inputs.logitRows.size());
  std::iota(m_firstRows.begin(), m_firstRows.end(), 0);
}

void CpuPass::rotateKeys(const compute::RotaryTable& rotary, const std::vector<std::int32_t>& locals,
                         RotaryCache& cache) {
  const auto rowFloats = 2 * static_cast<std::int64_t>(rotary.inverseFrequencies.size());
  m_rotaryPages.clear();
  m_keyRotations.clear();
  m_keyRotations.reserve(locals.size());
  std::int64_t page = -1;
  for (const std::int32_t local : locals) {
    if (rotaryPageOf(local) != page) {
      page = rotaryPageOf(local);
      m_rotaryPages.push_back(cache.page(rotary, page));
    }
    m_keyRotations.push_back(m_rotaryPages.back()->cosSin.data() + local % RotaryPage::kRows * rowFloats);
  }
}

std::span<const std::int32_t> CpuPass::rows(compute::RowList list) const {
  switch (list) {
    case compute::RowList::Chosen:
      return m_chosenRows;
    case compute::RowList::Wanted:
      return m_wantedRows;
    case compute::RowList::Logits:
      break;
  }
  return m_firstRows;
}

void CpuPass::narrow(std::span<const float> scores, RotaryCache& cache) {
  if (!m_wide) throw Failure(Error{"", "narrowing a pass", "one that has no rows to lose", "keptRows"});
  if (scores.size() != m_tokens.size())
    refuse("scores", static_cast<std::int64_t>(scores.size()), std::to_string(m_tokens.size()));
  m_chosenRows = compute::chooseRows(m_wide->inputs, scores);
  const compute::PassInputs inputs = compute::narrowed(m_wide->inputs, m_chosenRows);
  m_tokens = inputs.tokens;
  m_slots = inputs.slots;
  m_attention = CpuAttentionPlan(m_wide->shape, m_wide->rotary, m_wide->store, inputs, cache);
  takeWanted(inputs);
  rotateKeys(m_wide->rotary, inputs.localIndices, cache);
  m_wide.reset();
}

}  // namespace spanscope::cpu
