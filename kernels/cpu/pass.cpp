// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/pass.h"

#include "engine/base/error.h"
#include "engine/compute/pass_check.h"

#include <numeric>

namespace spanscope::cpu {
namespace {

/// Checks that the inputs fit each other and the shapes, and returns the inputs.
const compute::PassInputs& checked(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                                   const compute::KvShape& store, const compute::PassInputs& inputs) {
  compute::checkPass(shape, rotary, store, inputs);
  return inputs;
}

}  // namespace

CpuPass::CpuPass(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                 const compute::KvShape& store, const compute::PassInputs& inputs, RotaryCache& cache)
    : m_tokens(checked(shape, rotary, store, inputs).tokens),
      m_slots(inputs.slots),
      m_attention(shape, rotary, inputs, store.blockSize, cache),
      m_mass(inputs.mass),
      m_draws(inputs.draws) {
  takeWanted(inputs);
  rotateKeys(rotary, inputs.localIndices, cache);
  if (!inputs.narrowings.empty()) m_wide = Wide{shape, rotary, store.blockSize, compute::Narrowing(inputs)};
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
  if (!m_wide)
    throw Failure(Error{"", "narrowing a pass", "a pass without further narrowings", "narrowings"});
  m_chosenRows = m_wide->narrowing.step(scores);
  const compute::PassInputs& inputs = m_wide->narrowing.inputs();
  m_tokens = inputs.tokens;
  m_slots = inputs.slots;
  m_mass = inputs.mass;
  m_attention = CpuAttentionPlan(m_wide->shape, m_wide->rotary, inputs, m_wide->blockSize, cache);
  takeWanted(inputs);
  rotateKeys(m_wide->rotary, inputs.localIndices, cache);
  results.keptRows = m_wide->narrowing.kept();
}

}  // namespace spanscope::cpu
