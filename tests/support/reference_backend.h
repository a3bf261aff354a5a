// SPDX-License-Identifier: GPL-3.0-or-later
// Implements every operation of a backend in double precision, by the most direct loops. Other backends are
// compared with it.
#pragma once

#include "engine/compute/backend.h"

#include <memory>
#include <stop_token>

namespace spanscope::testing {

/// How the reference keeps keys.
enum class KeyLayout {
  /// Keys are rotated by local index when stored; queries are rotated by their distance from each segment's
  /// base.
  LocalRotation,
  Raw  ///< keys are stored un-rotated; keys and queries are rotated by their positions in the view when read
};

/// A slow and strict backend. It holds activations, weights and F32 keys and values in double precision; a
/// BF16 store rounds to bf16. Misuse (an id out of range, shapes that do not fit) throws std::logic_error.
/// Unwritten slots hold NaN, so that reading one shows in the results.
class ReferenceBackend : public compute::Backend {
 public:
  explicit ReferenceBackend(KeyLayout layout = KeyLayout::LocalRotation) : m_layout(layout) {}

  compute::DeviceInfo info() const override;
  void begin(std::stop_token stop) override;
  bool stopped() override;

  std::unique_ptr<compute::Tensor> makeTensor() override;
  std::unique_ptr<compute::Weight> prepare(const compute::HostMatrix& matrix,
                                           compute::WeightUse use) override;
  /// `KvStore::read` of the store gives keys as the layout keeps them.
  std::unique_ptr<compute::KvStore> makeKvStore(const compute::KvShape& shape) override;

  std::unique_ptr<compute::Pass> makePass(const compute::AttentionShape& shape,
                                          const compute::RotaryTable& rotary, const compute::KvShape& store,
                                          const compute::PassInputs& inputs) override;
  void embed(const compute::Pass& pass, const compute::Weight& table, compute::Tensor& out) override;
  void rmsNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
               compute::Tensor& out) override;
  void layerNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
                 compute::Tensor& out) override;
  void matmul(const compute::Tensor& x, const compute::Weight& weight, const compute::Weight* bias,
              bool accumulate, compute::Tensor& out) override;
  void multiplyGated(compute::Activation activation, const compute::Tensor& gate, const compute::Tensor& up,
                     compute::Tensor& out) override;
  /// Each row and expert alone, with matmul() and multiplyGated() of this object.
  void mixExperts(const compute::Tensor& x, const compute::Tensor& scores,
                  std::span<const compute::ExpertWeights> experts, const compute::ExpertChoice& choice,
                  compute::Activation activation, compute::Tensor& out) override;
  void scale(compute::Tensor& x, float factor) override;
  void softCap(compute::Tensor& x, float cap) override;
  void takeColumns(const compute::Tensor& x, std::int64_t first, std::int64_t count,
                   compute::Tensor& out) override;
  void addScaled(const compute::Tensor& x, float factor, compute::Tensor& out) override;
  void gatherRows(const compute::Pass& pass, compute::RowList list, const compute::Tensor& x,
                  compute::Tensor& out) override;
  void storeKeysValues(const compute::Pass& pass, const compute::Tensor& keys, const compute::Tensor& values,
                       std::int32_t layer, compute::KvStore& store) override;
  void copyBlocks(std::span<const compute::BlockCopy> copies, compute::KvStore& store) override;
  /// Bytes of an F32 store are rounded to f32.
  void readBlocks(std::span<const compute::BlockToHost> blocks, const compute::KvStore& store) override;
  void writeBlocks(std::span<const compute::BlockFromHost> blocks, compute::KvStore& store) override;
  void attend(compute::Pass& pass, const compute::Tensor& queries, const compute::KvStore& store,
              std::int32_t layer, bool observed, compute::Tensor& out,
              const compute::Weight* sinks = nullptr) override;
  void deviations(const compute::Pass& pass, compute::StoredPart part, const compute::Tensor& x,
                  std::int32_t layer, const compute::KvStore& store, compute::Tensor& out) override;
  void narrow(compute::Pass& pass, const compute::Tensor& scores) override;
  void sample(compute::Pass& pass, const compute::Tensor& logits) override;
  void fetch(compute::Pass& pass, const compute::Tensor& x) override;
  compute::PassResults finish(compute::Pass& pass) override;
  void download(const compute::Tensor& x, std::span<float> out) override;
  void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
              compute::Tensor& out) override;

 private:
  KeyLayout m_layout;
  std::stop_token m_stop;
};

}  // namespace spanscope::testing
