// SPDX-License-Identifier: GPL-3.0-or-later
// A pass as the card has it: its lists in one piece of memory, uploaded once, and room for what comes back.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/narrowing.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/prefill_attention.h"
#include "kernels/cuda/backend/attention_work.h"
#include "kernels/cuda/backend/card_buffers.h"
#include "kernels/cuda/backend/card_work.h"
#include "kernels/cuda/backend/fixed_place.h"
#include "kernels/cuda/backend/pass_rotations.h"
#include "kernels/cuda/backend/row_count.h"
#include "kernels/cuda/backend/split_lists.h"
#include "kernels/cuda/backend/upload_list.h"
#include "kernels/cuda/sampling/sample.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::cuda {

/// What the passes of a backend share.
struct PassSupplies {
  std::shared_ptr<CardWork> work;
  std::shared_ptr<CardBuffers> buffers;
  std::shared_ptr<FixedPlace> place;
  std::shared_ptr<RotationTables> rotations;
  int multiprocessors = 1;
  std::size_t sharedBytes = kLeastSharedBytes;  ///< of a block of the card, at most
  bool exact = false;                           ///< rows are bit-equal
};

class CardPass final : public compute::Pass {
 public:
  /// Throws Failure for inputs that do not fit. A decode step takes the place, if it is free, and has what
  /// follows noted.
  CardPass(PassSupplies supplies, const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
           const compute::KvShape& store, const compute::PassInputs& inputs);
  /// Waits for the stream if nobody did: host memory goes back.
  ~CardPass() override;
  CardPass(const CardPass&) = delete;
  CardPass& operator=(const CardPass&) = delete;

  RowCount rows() const { return m_rows; }
  const std::int32_t* tokens() const { return at<std::int32_t>(m_tokens); }
  const std::int64_t* slots() const { return at<std::int64_t>(m_slots); }
  /// Of keys: rows of keyRotations().
  const std::int32_t* keyIndices() const { return at<std::int32_t>(m_keyIndices); }
  const float* keyRotations() const { return m_rotations.at(m_keyRotations, m_lists.data()); }
  const std::int32_t* list(compute::RowList list) const;
  RowCount count(compute::RowList list) const;
  /// Whether any row may not read all blocks.
  bool choosesBlocks() const;

  /// See compute::Backend. The host chooses, which waits for the scores. Throws Failure where the inputs have
  /// nothing to narrow by.
  void narrow(const void* scores, std::int64_t count, bool isFloat);
  /// Attends in one layer of a pool.
  void attend(const KeyValuePool& pool, std::int32_t layer, const Bf16* queries, bool observed, Bf16* out);
  /// Draws from logits [rows][count].
  void sample(const float* logits, RowCount rows, std::int64_t count);
  void fetch(const void* values, std::int64_t count, bool isFloat);
  /// Waits. After a stop there are no results.
  compute::PassResults finish();

 private:
  struct DecodeLists {
    std::int32_t firstRow = 0;
    std::int32_t rows = 0;
    std::size_t items = 0;
    std::size_t rowItems = 0;
    std::size_t locals = 0;
    std::size_t blocks = 0;
    RotationPlace cosSin = {};
    std::size_t entries = 0;
    int entryCount = 0;
    int itemCount = 0;
    int itemStretches = 0;
    std::int64_t massElements = 0;
    std::int64_t firstElements = 0;
    int chunkKeys = 0;
    std::size_t choiceBlocks = 0;
    std::size_t choiceRows = 0;
    int choiceBlockCount = 0;
    int choiceRowCount = 0;
    std::vector<MassPlace> masses;
    CardBuffer scratch = {};  ///< between the kernels, for all layers: of a decode step alone
  };
  struct PrefillLists {
    std::size_t items = 0;
    std::size_t runs = 0;
    std::size_t ranges = 0;
    std::size_t locals = 0;
    std::size_t blocks = 0;
    RotationPlace cosSin = {};
    int itemCount = 0;
  };
  struct AttentionLists {
    std::vector<DecodeLists> decodes;
    PrefillLists prefill;
    SplitLists split;
    CardBuffer splitScratch = {};  ///< as that of DecodeLists
  };

  /// What narrowing needs to know of the inputs.
  struct Wide {
    compute::KvShape store;
    compute::Narrowing narrowing;
  };

  /// Makes the lists and gives them to the stream. Those of a decode step are padded if the place is free.
  void describe(const compute::KvShape& store, const compute::PassInputs& inputs,
                const std::vector<std::int32_t>& chosen);
  /// Waits, and takes what has come.
  void settle();

  template <class T>
  const T* at(std::size_t place) const {
    return reinterpret_cast<const T*>(m_lists.data() + place);
  }
  AttentionLists addAttention(UploadList& lists, const AttentionWork& work);
  CardBuffer take(std::size_t bytes) {
    return m_lease ? CardBuffer(m_lease.take(bytes)) : m_supplies.buffers->take(bytes);
  }
  HostBuffer takeOfHost(std::size_t bytes) {
    return m_lease ? HostBuffer(m_lease.takeOfHost(bytes)) : m_supplies.buffers->takeOfHost(bytes);
  }
  /// Memory between the kernels of one layer. That of a decode step is `kept` for all layers, and taken here
  /// the first time; else what is given may go back while the kernels have yet to run: whoever takes it is
  /// behind them in the stream.
  CardBuffer scratchFor(CardBuffer& kept, std::size_t bytes);
  void attendRows(DecodeLists& lists, const KeyValuePool& pool, std::int32_t layer, const Bf16* queries,
                  Bf16* out, compute::LayerMass* mass);
  void sumMassOf(const DecodeLists& lists, const PartialSum* sums, const float* mass, const float* first,
                 const PartialSum* totals, compute::LayerMass& into);

  PassSupplies m_supplies;
  CardWork* m_work;    ///< of the supplies
  FixedLease m_lease;  ///< of a decode step
  compute::AttentionShape m_shape;
  TensorAttention m_tensorAttention;
  PassRotations m_rotations;
  RowCount m_rows;
  std::size_t m_tokens = 0;
  std::size_t m_slots = 0;
  std::size_t m_keyIndices = 0;
  RotationPlace m_keyRotations;
  std::size_t m_chosen = 0;
  std::size_t m_wanted = 0;
  std::size_t m_logits = 0;
  std::size_t m_parameters = 0;
  RowCount m_chosenCount;
  RowCount m_wantedCount;
  RowCount m_logitCount;
  std::vector<std::int32_t> m_drawn;  ///< by draw: its row of logits
  compute::MassRequest m_massRequest;
  std::vector<std::vector<std::int32_t>> m_massStretches;  ///< by entry: of each key range
  AttentionLists m_plain;
  AttentionLists m_observed;
  std::optional<Wide> m_wide;  ///< where it is narrowed at all
  HostBuffer m_staging;
  CardBuffer m_lists;

  // What comes back. Memory of the host holds it until the stream was waited for.
  compute::PassResults m_results;
  std::vector<HostBuffer> m_arriving;
  std::vector<std::function<void()>> m_arrivals;  ///< read it then, in order
  bool m_isDone = false;
};

inline CardPass& cardPass(compute::Pass& pass) {
  return static_cast<CardPass&>(pass);
}
inline const CardPass& cardPass(const compute::Pass& pass) {
  return static_cast<const CardPass&>(pass);
}

}  // namespace spanscope::cuda
