// SPDX-License-Identifier: GPL-3.0-or-later
// A forward pass on the GPU. The lists of the forward pass are in one piece of memory, which is uploaded
// once. The results arrive in separate host memory. Open this file to add an input of a forward pass.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/pass.h"
#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/prefill_attention.h"
#include "kernels/cuda/backend/attention_work.h"
#include "kernels/cuda/backend/device_buffers.h"
#include "kernels/cuda/backend/device_tensor.h"
#include "kernels/cuda/backend/device_work.h"
#include "kernels/cuda/backend/fixed_place.h"
#include "kernels/cuda/backend/rotation_tables.h"
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

/// The objects that the forward passes of a backend share.
struct PassSupplies {
  std::shared_ptr<DeviceWork> work;
  std::shared_ptr<DeviceBuffers> buffers;
  std::shared_ptr<FixedPlace> place;
  std::shared_ptr<RotationTables> rotations;
  int multiprocessors = 1;
  std::size_t sharedBytes = kLeastSharedBytes;  ///< max for one thread block of the GPU
  bool exact = false;                           ///< rows must be bit-equal
};

class DevicePass final : public compute::Pass {
 public:
  /// Throws Failure for inputs that do not fit each other. A decode step takes the fixed place (fixed_place.h) if this place is free and attention needs one launch. The work of such a step is then noted first, so that a recorded graph can be replayed (device_work.h).
  DevicePass(PassSupplies supplies, const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
             const compute::KvShape& store, const compute::PassInputs& inputs);
  /// Waits for the stream if necessary, because host memory is returned.
  ~DevicePass() override;
  DevicePass(const DevicePass&) = delete;
  DevicePass& operator=(const DevicePass&) = delete;

  RowCount rows() const { return m_rows; }
  const std::int32_t* tokens() const { return at<std::int32_t>(m_tokens); }
  const std::int64_t* slots() const { return at<std::int64_t>(m_slots); }
  /// For keys: indices of rows of keyRotations().
  const std::int32_t* keyIndices() const { return at<std::int32_t>(m_keyIndices); }
  const float* keyRotations() const { return m_rotations.at(m_keyRotations, m_lists.data()); }
  const std::int32_t* list(compute::RowList list) const;
  RowCount count(compute::RowList list) const;
  /// Whether attention chooses the blocks that some rows read.
  bool choosesBlocks() const;

  /// See compute::Backend. The host chooses the rows, and therefore waits for the scores. Throws Failure if
  /// the inputs have no further narrowing.
  void narrow(const void* scores, std::int64_t count, bool isFloat);
  /// Computes attention in one layer of a pool.
  void attend(const KeyValuePool& pool, std::int32_t layer, const Bf16* queries, bool observed, Bf16* out);
  /// Samples tokens from logits [rows][count].
  void sample(const float* logits, RowCount rows, std::int64_t count);
  void fetch(const void* values, std::int64_t count, bool isFloat);
  /// Waits for the results. A stopped forward pass has no results.
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
    DeviceBuffer scratch = {};  ///< used between the kernels, for all layers; only in a decode step
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
    DeviceBuffer splitScratch = {};  ///< like DecodeLists::scratch
  };

  /// The inputs that narrowing needs.
  struct Wide {
    compute::KvShape store;
    compute::Narrowing narrowing;
  };

  /// Makes the lists and puts their upload on the stream. The lists of a decode step are padded if the step
  /// has the fixed place.
  void describe(const compute::KvShape& store, const compute::PassInputs& inputs,
                const std::vector<std::int32_t>& chosen);
  /// Waits, and reads the arrived data.
  void settle();

  template <class T>
  const T* at(std::size_t place) const {
    return reinterpret_cast<const T*>(m_lists.data() + place);
  }
  /// Returns the scales of the rows; null: the rows have no scales of their own.
  const float* rowScales() const { return m_hasRowScales ? at<float>(m_rowScales) : nullptr; }
  /// Adds the lists of attention to the upload. Returns their places.
  AttentionLists addAttention(UploadList& lists, const AttentionWork& work);
  DeviceBuffer take(std::size_t bytes) {
    return m_lease ? DeviceBuffer(m_lease.take(bytes)) : m_supplies.buffers->take(bytes);
  }
  HostBuffer takeOfHost(std::size_t bytes) {
    return m_lease ? HostBuffer(m_lease.takeOfHost(bytes)) : m_supplies.buffers->takeOfHost(bytes);
  }
  /// Returns memory for use between the kernels of one layer. In a decode step, this memory is `kept`, which
  /// all layers share and the first call allocates. Otherwise the memory may be returned before the kernels
  /// have run. The next borrower's work comes after these kernels in the stream.
  DeviceBuffer scratchFor(DeviceBuffer& kept, std::size_t bytes);
  void attendRows(DecodeLists& lists, const KeyValuePool& pool, std::int32_t layer, const Bf16* queries,
                  Bf16* out, compute::LayerMass* mass);
  void sumMassOf(const DecodeLists& lists, const PartialSum* sums, const float* mass, const float* first,
                 const PartialSum* totals, compute::LayerMass& into);

  PassSupplies m_supplies;
  DeviceWork* m_work;  ///< owned by m_supplies
  FixedLease m_lease;  ///< of a decode step
  compute::AttentionShape m_shape;
  TensorAttention m_tensorAttention;
  PassRotations m_rotations;
  RowCount m_rows;
  std::size_t m_tokens = 0;
  std::size_t m_slots = 0;
  bool m_hasRowScales = false;
  std::size_t m_rowScales = 0;
  std::size_t m_keyIndices = 0;
  RotationPlace m_keyRotations;
  std::size_t m_chosen = 0;
  std::size_t m_wanted = 0;
  std::size_t m_logits = 0;
  std::size_t m_parameters = 0;
  RowCount m_chosenCount;
  RowCount m_wantedCount;
  RowCount m_logitCount;
  std::vector<std::int32_t> m_drawn;  ///< by draw: index of the row of logits
  compute::MassRequest m_massRequest;
  std::vector<std::vector<std::int32_t>> m_massStretches;  ///< by entry: number of stretches in each key
                                                           ///< range
  AttentionLists m_plain;
  AttentionLists m_observed;
  std::optional<Wide> m_wide;  ///< set if the forward pass is narrowed
  HostBuffer m_staging;
  DeviceBuffer m_lists;

  // The results. The results arrive in host memory and are read after a wait for the stream.
  compute::PassResults m_results;
  std::vector<HostBuffer> m_arriving;
  std::vector<std::function<void()>>
      m_arrivals;  ///< called in order after the wait; these functions read the arrived memory
  bool m_isDone = false;
};

inline DevicePass& devicePass(compute::Pass& pass) {
  return static_cast<DevicePass&>(pass);
}
inline const DevicePass& devicePass(const compute::Pass& pass) {
  return static_cast<const DevicePass&>(pass);
}

}  // namespace spanscope::cuda
