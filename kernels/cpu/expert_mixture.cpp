// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/expert_mixture.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::cpu {

namespace {

/// Max slots that are computed together. The limit bounds the scratch memory.
constexpr std::int64_t kMostSlots = 4096;

const CpuWeight* biasOf(const compute::Weight* bias) {
  return bias == nullptr ? nullptr : &cpuWeight(*bias);
}

}  // namespace

void ExpertMixture::run(Executor& executor, Matmul& matmul, const RowKernels& rows,
                        const ExpertInputs& inputs, CpuTensor& out) {
  const auto experts = static_cast<std::int64_t>(inputs.experts.size());
  if (inputs.scores.rows() != inputs.x.rows() || inputs.scores.columns() != experts)
    throw Failure(errorAt("experts", counted(inputs.scores.columns(), "score") + " per row",
                          "a score for each of " + counted(experts, "expert")));
  if (inputs.choice.used < 1 || inputs.choice.used > experts)
    throw Failure(errorAt("experts", std::to_string(inputs.choice.used) + " per row",
                          "1 to " + std::to_string(experts)));
  out.resize(inputs.x.rows(), inputs.x.columns());
  const std::int64_t together = std::max<std::int64_t>(1, kMostSlots / inputs.choice.used);
  for (std::int64_t first = 0; first < inputs.x.rows() && !executor.stopped(); first += together)
    runRows(executor, matmul, rows, inputs, first, std::min(together, inputs.x.rows() - first), out);
}

void ExpertMixture::runRows(Executor& executor, Matmul& matmul, const RowKernels& rows,
                            const ExpertInputs& inputs, std::int64_t first, std::int64_t count,
                            CpuTensor& out) {
  const std::int64_t used = inputs.choice.used;
  const std::int64_t slots = count * used;
  const std::int64_t columns = inputs.x.columns();
  const std::size_t experts = inputs.experts.size();

  m_chosen.resize(static_cast<std::size_t>(slots));
  m_slots.resize(m_chosen.size());
  const auto chosenOf = [&](std::int64_t row) {
    return std::span(m_chosen).subspan(static_cast<std::size_t>(row * used), static_cast<std::size_t>(used));
  };
  executor.runRanges(
      count, static_cast<std::int64_t>(experts) * 4, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
          compute::chooseExperts({inputs.scores.row(first + row), experts}, inputs.choice, chosenOf(row));
      });

  m_firstSlots.assign(experts + 1, 0);
  for (const compute::ChosenExpert& one : m_chosen) ++m_firstSlots[static_cast<std::size_t>(one.expert) + 1];
  for (std::size_t i = 0; i < experts; ++i) m_firstSlots[i + 1] += m_firstSlots[i];
  std::vector<std::int64_t> next(m_firstSlots.begin(), m_firstSlots.end() - 1);
  for (std::size_t i = 0; i < m_chosen.size(); ++i)
    m_slots[i] = next[static_cast<std::size_t>(m_chosen[i].expert)]++;

  m_gathered.resize(slots, columns);
  executor.runRanges(count, used * columns / 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * used; i < end * used; ++i)
      std::copy_n(inputs.x.row(first + i / used), columns,
                  m_gathered.row(m_slots[static_cast<std::size_t>(i)]));
  });

  const auto forExperts = [&](const auto& visit) {
    for (std::size_t i = 0; i < experts; ++i) {
      const std::int64_t firstSlot = m_firstSlots[i];
      if (m_firstSlots[i + 1] > firstSlot)
        visit(inputs.experts[i], firstSlot, m_firstSlots[i + 1] - firstSlot);
    }
  };
  const std::int64_t inner = inputs.experts.front().gate->rows();
  m_gate.resize(slots, inner);
  m_up.resize(slots, inner);
  m_products.clear();
  forExperts([&](const compute::ExpertWeights& expert, std::int64_t slot, std::int64_t rowCount) {
    m_products.push_back(
        {slot, rowCount, &m_gathered, &cpuWeight(*expert.gate), biasOf(expert.gateBias), &m_gate});
    m_products.push_back({slot, rowCount, &m_gathered, &cpuWeight(*expert.up), biasOf(expert.upBias), &m_up});
  });
  matmul.multiplyGroups(executor, m_products);

  const auto multiply = rows.multiplyGated[static_cast<std::size_t>(inputs.activation)];
  executor.runRanges(slots, inner * 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t slot = begin; slot < end; ++slot)
      multiply(m_gate.row(slot), m_up.row(slot), inner, m_gate.row(slot));
  });

  m_mixed.resize(slots, columns);
  m_products.clear();
  forExperts([&](const compute::ExpertWeights& expert, std::int64_t slot, std::int64_t rowCount) {
    m_products.push_back(
        {slot, rowCount, &m_gate, &cpuWeight(*expert.down), biasOf(expert.downBias), &m_mixed});
  });
  matmul.multiplyGroups(executor, m_products);

  executor.runRanges(count, used * columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const target = out.row(first + row);
      std::fill_n(target, columns, 0.0F);
      for (std::int64_t i = row * used; i < (row + 1) * used; ++i) {
        const auto index = static_cast<std::size_t>(i);
        rows.addScaled(m_mixed.row(m_slots[index]), m_chosen[index].weight, columns, target);
      }
    }
  });
}

}  // namespace spanscope::cpu
