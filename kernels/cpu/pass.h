// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU backend's form of a forward pass. Open this file to add a table that operations share.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/pass.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/rotary.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::cpu {

/// A forward pass with the tables of its operations, and its results so far.
class CpuPass final : public compute::Pass {
 public:
  /// Throws Failure for inputs that do not fit each other or the shapes.
  CpuPass(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
          const compute::KvShape& store, const compute::PassInputs& inputs, RotaryCache& cache);

  /// See compute::Backend. Throws Failure if the inputs have no further narrowing. scores: one per row.
  void narrow(std::span<const float> scores, RotaryCache& cache);

  std::span<const TokenId> tokens() const { return m_tokens; }
  std::span<const std::int64_t> slots() const { return m_slots; }
  /// Returns cosines and sines for rotating the row's key.
  const float* keyRotation(std::int64_t row) const { return m_keyRotations[static_cast<std::size_t>(row)]; }
  const CpuAttentionPlan& attention() const { return m_attention; }
  const compute::MassRequest& mass() const { return m_mass; }
  std::span<const std::int32_t> rows(compute::RowList list) const;
  std::span<const compute::Draw> draws() const { return m_draws; }

  compute::PassResults results;

 private:
  /// The inputs that narrowing needs.
  struct Wide {
    compute::AttentionShape shape;
    compute::RotaryTable rotary;
    std::int64_t blockSize = 0;
    compute::Narrowing narrowing;
  };

  void rotateKeys(const compute::RotaryTable& rotary, const std::vector<std::int32_t>& locals,
                  RotaryCache& cache);
  void takeWanted(const compute::PassInputs& inputs);

  std::vector<TokenId> m_tokens;
  std::vector<std::int64_t> m_slots;
  std::vector<std::shared_ptr<const RotaryPage>> m_rotaryPages;  ///< owns the pages of m_keyRotations
  std::vector<const float*> m_keyRotations;
  CpuAttentionPlan m_attention;
  compute::MassRequest m_mass;
  std::vector<std::int32_t> m_wantedRows;
  std::vector<std::int32_t> m_firstRows;  ///< 0, 1, …: the logit rows come first among the wanted rows
  std::vector<compute::Draw> m_draws;
  std::optional<Wide> m_wide;              ///< set if the forward pass is narrowed
  std::vector<std::int32_t> m_chosenRows;  ///< set after a narrowing
};

inline CpuPass& cpuPass(compute::Pass& pass) {
  return static_cast<CpuPass&>(pass);
}
inline const CpuPass& cpuPass(const compute::Pass& pass) {
  return static_cast<const CpuPass&>(pass);
}

}  // namespace spanscope::cpu
