// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/device_pass.h"

#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "engine/compute/pass_check.h"
#include "kernels/cuda/attention/block_choice.h"
#include "kernels/cuda/backend/decode_step.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

namespace spanscope::cuda {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + kListAlignment - 1) / kListAlignment * kListAlignment;
}

[[noreturn]] void refuse(const char* what, std::int64_t found, const std::string& expected) {
  throw Failure(errorAt(std::string("pass, ") + what, std::to_string(found), expected));
}

/// Parts of one piece of memory.
class Parts {
 public:
  template <class T>
  std::size_t add(std::int64_t count) {
    const std::size_t place = m_bytes;
    m_bytes += aligned(static_cast<std::size_t>(count) * sizeof(T));
    return place;
  }
  std::size_t bytes() const { return m_bytes; }

 private:
  std::size_t m_bytes = 0;
};

/// Returns the scale of each row's scores. Empty if all rows have the same scale.
std::vector<float> rowScalesOf(const compute::AttentionShape& shape, const compute::PassInputs& inputs) {
  if (!shape.positionScale.isOn()) return {};
  std::vector<float> scales(inputs.tokens.size(), shape.scale);
  for (const compute::QueryRun& run : inputs.runs) {
    for (std::int64_t row = run.firstRow; row < run.firstRow + run.rowCount; ++row) {
      const auto place = static_cast<std::size_t>(row);
      scales[place] = shape.scale * shape.positionScale.at(run.base + inputs.localIndices[place]);
    }
  }
  return scales;
}

}  // namespace

DevicePass::DevicePass(PassSupplies supplies, const compute::AttentionShape& shape,
                       const compute::RotaryTable& rotary, const compute::KvShape& store,
                       const compute::PassInputs& inputs)
    : m_supplies(std::move(supplies)), m_work(m_supplies.work.get()), m_shape(shape), m_rotations(rotary) {
  compute::checkPass(shape, rotary, store, inputs);
  m_tensorAttention = tensorAttention(shape, store, m_supplies.sharedBytes);
  if (isDecodeStep(inputs)) m_lease = m_supplies.place->lease();
  describe(store, inputs, {});
  if (m_lease) m_work->note();
  if (inputs.narrowings.empty()) return;
  m_wide.emplace(Wide{.store = store, .narrowing = compute::Narrowing(inputs)});
}

void DevicePass::describe(const compute::KvShape& store, const compute::PassInputs& inputs,
                          const std::vector<std::int32_t>& chosen) {
  AttentionWork plain;
  AttentionWork observed;
  if (!inputs.runs.empty()) {
    const AttentionMode mode{.exact = m_supplies.exact,
                             .multiprocessors = m_supplies.multiprocessors,
                             .keptRotations = RotationTables::kMostRows,
                             .sharedBytes = m_supplies.sharedBytes};
    plain = planAttention(m_shape, store, inputs, false, mode);
    if (!inputs.mass.runs.empty()) observed = planAttention(m_shape, store, inputs, true, mode);
  }
  // A step with several launches for its keys is not equal to other steps.
  for (const AttentionWork* const work : {&plain, &observed}) {
    if (work->decodes.size() > 1 || work->split.launches.size() > 1) m_lease = {};
  }

  const auto count = [](std::size_t own, std::int64_t most) {
    const auto rows = static_cast<std::int64_t>(own);
    return RowCount{.own = rows, .padded = rows == 0 ? 0 : std::max(rows, most)};
  };
  const std::int32_t padding = m_lease ? paddedRows(static_cast<std::int32_t>(inputs.tokens.size())) : 0;
  m_rows = count(inputs.tokens.size(), padding);
  m_chosenCount = count(chosen.size(), 0);
  m_wantedCount = count(inputs.logitRows.size() + inputs.hiddenRows.size(), padding);
  m_logitCount = count(inputs.logitRows.size(), padding);
  if (m_lease) {
    for (AttentionWork* const work : {&plain, &observed}) {
      for (DecodeWork& decode : work->decodes) pad(decode, padding);
      pad(work->split, static_cast<std::int32_t>(inputs.tokens.size()), padding,
          m_shape.queryHeads / std::max(1, m_shape.keyHeads));
    }
  }
  m_massRequest = inputs.mass;
  m_massStretches.clear();
  m_drawn.clear();

  UploadList lists;
  m_chosen = lists.add(chosen);
  m_tokens = lists.add(padded(inputs.tokens, m_rows.padded, TokenId{0}));
  m_slots = lists.add(padded(inputs.slots, m_rows.padded, std::int64_t{-1}));
  std::vector<float> scales = rowScalesOf(m_shape, inputs);
  m_hasRowScales = !scales.empty();
  if (m_hasRowScales) scales = padded(std::move(scales), m_rows.padded, m_shape.scale);
  m_rowScales = lists.add(scales);

  Rotations rotations;
  for (const std::int32_t local : inputs.localIndices) rotations.add(local, 1);
  rotations.close(RotationTables::kMostRows);
  std::vector<std::int32_t> keyIndices;
  keyIndices.reserve(inputs.localIndices.size());
  for (const std::int32_t local : inputs.localIndices)
    keyIndices.push_back(static_cast<std::int32_t>(local + rotations.offsetOf(local)));
  m_keyIndices = lists.add(padded(std::move(keyIndices), m_rows.padded, 0));
  m_keyRotations = m_rotations.add(rotations, lists, padding * std::int64_t{store.headSize});

  std::vector<std::int32_t> wanted(inputs.logitRows);
  wanted.insert(wanted.end(), inputs.hiddenRows.begin(), inputs.hiddenRows.end());
  m_wanted = lists.add(padded(std::move(wanted), m_wantedCount.padded, 0));
  std::vector<std::int32_t> first(static_cast<std::size_t>(m_logitCount.padded));
  std::iota(first.begin(), first.end(), 0);
  m_logits = lists.add(first);

  std::vector<SamplingParameters> parameters;
  for (const compute::Draw& draw : inputs.draws) {
    parameters.push_back(samplingParameters(draw.settings, draw.index));
    m_drawn.push_back(draw.logits);
  }
  m_parameters = lists.add(padded(std::move(parameters), padding, SamplingParameters()));

  m_plain = addAttention(lists, plain);
  m_observed = addAttention(lists, observed);
  m_rotations.keep(*m_supplies.rotations);
  for (std::size_t i = 0; i < inputs.mass.runs.size(); ++i) {
    const std::int32_t span = inputs.mass.keySpan(i, store.blockSize);
    std::vector<std::int32_t>& stretches = m_massStretches.emplace_back();
    for (const compute::KeyRange& keys : inputs.runs[inputs.mass.runs[i]].keys)
      stretches.push_back((keys.end + span - 1) / span);
  }

  const std::size_t bytes = lists.bytes().size();
  m_staging = m_lease ? HostBuffer(m_lease.takeForListsOfHost(bytes)) : m_supplies.buffers->takeOfHost(bytes);
  m_lists = m_lease ? DeviceBuffer(m_lease.takeForLists(bytes)) : m_supplies.buffers->take(bytes);
  if (lists.bytes().empty()) return;
  std::memcpy(m_staging.data(), lists.bytes().data(), lists.bytes().size());
  m_work->stream().copyToDevice(m_lists.data(), m_staging.data(), lists.bytes().size());
}

DevicePass::~DevicePass() {
  if (m_isDone) return;
  try {
    // No caller has requested the results.
    if (m_lease) m_work->drop();
    m_work->synchronize();
  } catch (const Failure&) {
    // The GPU is lost and no longer writes to the memory.
    m_arrivals.clear();
  }
}

DevicePass::AttentionLists DevicePass::addAttention(UploadList& lists, const AttentionWork& work) {
  const auto table = [&](const Rotations& rotations) {
    // An observed step has a second list.
    const bool isLast = m_massRequest.runs.empty();
    const std::int64_t floats = rotations.rows() * m_shape.headSize;
    return m_rotations.add(rotations, lists, m_lease && !isLast ? paddedElements(floats) : 0);
  };
  AttentionLists result;
  for (const DecodeWork& decode : work.decodes) {
    const DecodePlan& plan = decode.plan;
    result.decodes.push_back({.firstRow = decode.firstRow,
                              .rows = decode.rows,
                              .items = lists.add(plan.items),
                              .rowItems = lists.add(plan.rowItems),
                              .locals = lists.add(plan.locals),
                              .blocks = lists.add(plan.blocks),
                              .cosSin = table(plan.rotations),
                              .entries = lists.add(plan.masses),
                              .entryCount = static_cast<int>(plan.masses.size()),
                              .itemCount = static_cast<int>(plan.items.size()),
                              .itemStretches = plan.itemStretches,
                              .massElements = plan.massElements,
                              .firstElements = plan.firstElements,
                              .chunkKeys = plan.chunkKeys,
                              .choiceBlocks = lists.add(plan.choiceBlocks),
                              .choiceRows = lists.add(plan.choiceRows),
                              .choiceBlockCount = static_cast<int>(plan.choiceBlocks.size()),
                              .choiceRowCount = static_cast<int>(plan.choiceRows.size()),
                              .masses = decode.masses});
  }
  result.split = SplitLists(lists, work.split, m_rotations);
  const PrefillPlan& plan = work.prefill;
  if (plan.items.empty()) return result;
  result.prefill = {.items = lists.add(plan.items),
                    .runs = lists.add(plan.runs),
                    .ranges = lists.add(plan.ranges),
                    .locals = lists.add(plan.locals),
                    .blocks = lists.add(plan.blocks),
                    .cosSin = table(plan.rotations),
                    .itemCount = static_cast<int>(plan.items.size())};
  return result;
}

void DevicePass::attend(const KeyValuePool& pool, std::int32_t layer, const Bf16* queries, bool observed,
                        Bf16* out) {
  // Memory that is used between kernels is released here. A recorded operation of another forward pass could
  // otherwise still use this memory.
  if (!m_lease) m_work->flush();
  compute::LayerMass* mass = nullptr;
  if (observed) {
    mass = &m_results.mass.emplace_back(compute::LayerMass{.layer = layer, .runs = {}});
    for (std::size_t i = 0; i < m_massRequest.runs.size(); ++i) {
      compute::RunMass& run = mass->runs.emplace_back();
      run.run = m_massRequest.runs[i];
      run.keySpan = m_massRequest.keySpan(i, pool.blockSize);
      run.keyBlocks = m_massStretches[i];
      const int stretches = std::accumulate(run.keyBlocks.begin(), run.keyBlocks.end(), 0);
      run.mass.assign(static_cast<std::size_t>(m_shape.queryHeads) * static_cast<std::size_t>(stretches),
                      0.0F);
      run.first.assign(static_cast<std::size_t>(m_shape.queryHeads) * run.keyBlocks.size(), 0.0F);
    }
  }
  AttentionLists& lists = observed && !m_massRequest.runs.empty() ? m_observed : m_plain;
  for (DecodeLists& decode : lists.decodes) attendRows(decode, pool, layer, queries, out, mass);
  if (!lists.split.isEmpty()) {
    const DeviceBuffer own = scratchFor(lists.splitScratch, lists.split.scratchBytes(pool));
    std::byte* const scratch = m_lease ? lists.splitScratch.data() : own.data();
    lists.split.attend(*m_work, scratch, m_lists.data(), m_rotations, m_shape, rowScales(), pool, layer,
                       queries, out);
  }
  const PrefillLists& many = lists.prefill;
  if (many.itemCount == 0) return;
  PrefillAttentionArguments arguments;
  arguments.queries = queries;
  arguments.queryStride = std::int64_t{m_shape.queryHeads} * m_shape.headSize;
  arguments.queryHeads = m_shape.queryHeads;
  arguments.scale = m_shape.scale;
  arguments.softCap = m_shape.softCap;
  arguments.rowScales = rowScales();
  arguments.pool = pool;
  arguments.layer = layer;
  arguments.items = at<PrefillItem>(many.items);
  arguments.itemCount = many.itemCount;
  arguments.runs = at<PrefillRun>(many.runs);
  arguments.ranges = at<PrefillRange>(many.ranges);
  arguments.locals = at<std::int32_t>(many.locals);
  arguments.blocks = at<std::int32_t>(many.blocks);
  arguments.cosSin = m_rotations.at(many.cosSin, m_lists.data());
  arguments.out = out;
  m_work->give(attendPrefill, arguments);
}

DeviceBuffer DevicePass::scratchFor(DeviceBuffer& kept, std::size_t bytes) {
  if (!m_lease) return take(bytes);
  if (kept.data() == nullptr) kept = take(bytes);
  return {};
}

void DevicePass::attendRows(DecodeLists& lists, const KeyValuePool& pool, std::int32_t layer,
                            const Bf16* queries, Bf16* out, compute::LayerMass* mass) {
  const std::int64_t heads = m_shape.queryHeads;
  const bool hasMass = mass != nullptr && !lists.masses.empty();
  Parts parts;
  const std::size_t sums = parts.add<PartialSum>(lists.itemCount * heads);
  const std::size_t values = parts.add<float>(lists.itemCount * heads * pool.headSize);
  const std::size_t masses = parts.add<float>(hasMass ? lists.itemCount * heads * lists.itemStretches : 0);
  const std::size_t firsts = parts.add<float>(hasMass ? lists.itemCount * heads : 0);
  const std::size_t totals = parts.add<PartialSum>(hasMass ? lists.rows * heads : 0);
  const std::int64_t choices = std::int64_t{lists.choiceBlockCount} * pool.heads;
  const std::size_t bounds = parts.add<float>(choices);
  const std::size_t chosen = parts.add<std::uint8_t>(choices);
  const DeviceBuffer own = scratchFor(lists.scratch, parts.bytes());
  const DeviceBuffer& scratch = m_lease ? lists.scratch : own;
  const std::int64_t first = lists.firstRow * heads * m_shape.headSize;

  DecodeAttentionArguments arguments;
  arguments.queries = queries + first;
  arguments.queryStride = heads * m_shape.headSize;
  arguments.queryHeads = m_shape.queryHeads;
  arguments.scale = m_shape.scale;
  arguments.softCap = m_shape.softCap;
  if (m_hasRowScales) arguments.rowScales = rowScales() + lists.firstRow;
  arguments.pool = pool;
  arguments.layer = layer;
  arguments.onTensorCores = m_tensorAttention.ofSingle;
  arguments.items = at<DecodeItem>(lists.items);
  arguments.itemCount = lists.itemCount;
  arguments.rowItems = at<std::int32_t>(lists.rowItems);
  arguments.locals = at<std::int32_t>(lists.locals);
  arguments.blocks = at<std::int32_t>(lists.blocks);
  arguments.cosSin = m_rotations.at(lists.cosSin, m_lists.data());
  arguments.rows = lists.rows;
  arguments.chunkKeys = lists.chunkKeys;
  arguments.itemStretches = hasMass ? lists.itemStretches : 0;
  arguments.partialSums = reinterpret_cast<PartialSum*>(scratch.data() + sums);
  arguments.partialValues = reinterpret_cast<float*>(scratch.data() + values);
  if (hasMass) {
    arguments.partialMass = reinterpret_cast<float*>(scratch.data() + masses);
    arguments.partialFirst = reinterpret_cast<float*>(scratch.data() + firsts);
    arguments.totals = reinterpret_cast<PartialSum*>(scratch.data() + totals);
  }
  arguments.out = out + first;
  if (choices > 0) {
    BlockChoiceArguments choice;
    choice.queries = arguments.queries;
    choice.queryStride = arguments.queryStride;
    choice.queryHeads = arguments.queryHeads;
    choice.pool = pool;
    choice.layer = layer;
    choice.blocks = at<ChoiceBlock>(lists.choiceBlocks);
    choice.blockCount = lists.choiceBlockCount;
    choice.rows = at<ChoiceRow>(lists.choiceRows);
    choice.rowCount = lists.choiceRowCount;
    choice.cosSin = arguments.cosSin;
    choice.bounds = reinterpret_cast<float*>(scratch.data() + bounds);
    choice.chosen = reinterpret_cast<std::uint8_t*>(scratch.data() + chosen);
    m_work->give(chooseBlocks, choice);
    arguments.chosen = choice.chosen;
    arguments.choiceBlocks = choice.blockCount;
  }
  m_work->give(attendDecode, arguments);
  if (hasMass)
    sumMassOf(lists, arguments.partialSums, arguments.partialMass, arguments.partialFirst, arguments.totals,
              *mass);
}

void DevicePass::sumMassOf(const DecodeLists& lists, const PartialSum* sums, const float* mass,
                           const float* first, const PartialSum* totals, compute::LayerMass& into) {
  const auto count = static_cast<std::size_t>(lists.massElements);
  const auto firstCount = static_cast<std::size_t>(lists.firstElements);
  const DeviceBuffer result = take((count + firstCount) * sizeof(float));
  auto* const target = reinterpret_cast<float*>(result.data());
  // The step has room for more mass than there is. The unused room also goes to the host and is therefore set
  // to 0.
  if (m_lease) m_work->give(writeZeros, {target, (count + firstCount) * sizeof(float)});
  MassArguments arguments;
  arguments.entries = at<MassEntry>(lists.entries);
  arguments.entryCount = lists.entryCount;
  arguments.queryHeads = m_shape.queryHeads;
  arguments.items = at<DecodeItem>(lists.items);
  arguments.rowItems = at<std::int32_t>(lists.rowItems);
  arguments.locals = at<std::int32_t>(lists.locals);
  arguments.itemStretches = lists.itemStretches;
  arguments.partialSums = sums;
  arguments.partialMass = mass;
  arguments.partialFirst = first;
  arguments.totals = totals;
  arguments.mass = target;
  arguments.first = target + count;
  m_work->give(sumMass, arguments);

  HostBuffer& arriving = m_arriving.emplace_back(takeOfHost((count + firstCount) * sizeof(float)));
  m_work->give(copyToHost, {arriving.data(), target, (count + firstCount) * sizeof(float)});
  const auto* const arrived = reinterpret_cast<const float*>(arriving.data());
  const auto layer = static_cast<std::size_t>(&into - m_results.mass.data());
  const auto heads = static_cast<std::size_t>(m_shape.queryHeads);
  m_arrivals.emplace_back([this, &lists, arrived, count, heads, layer] {
    for (const MassPlace& place : lists.masses) {
      compute::RunMass& run = m_results.mass[layer].runs[place.entry];
      // Rows of a run may have been computed in several parts.
      const auto add = [](std::vector<float>& whole, const float* from, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) whole[i] += from[i];
      };
      add(run.mass, arrived + place.mass.firstMass, heads * static_cast<std::size_t>(place.mass.stretches));
      add(run.first, arrived + count + place.mass.firstFirst,
          heads * static_cast<std::size_t>(place.mass.ranges));
    }
  });
}

void DevicePass::sample(const float* logits, RowCount rows, std::int64_t count) {
  const std::size_t draws = m_drawn.size();
  m_results.tokens.resize(draws);
  if (draws == 0) return;
  if (!m_lease) m_work->flush();
  // A decode step draws from its first rows. Draws from padding rows are ignored.
  std::size_t drawn = draws;
  if (m_lease) drawn = std::max(draws, static_cast<std::size_t>(std::min(rows.padded, m_rows.padded)));
  const DeviceBuffer tokens = take(drawn * sizeof(DeviceToken));
  auto* const target = reinterpret_cast<DeviceToken*>(tokens.data());
  // Draws from consecutive rows are one launch.
  for (std::size_t begin = 0; begin < draws;) {
    std::size_t end = begin + 1;
    while (end < draws && m_drawn[end] == m_drawn[end - 1] + 1) ++end;
    if (m_lease) end = drawn;
    SampleArguments arguments;
    arguments.logits = logits + m_drawn[begin] * count;
    arguments.stride = count;
    arguments.count = static_cast<int>(count);
    arguments.parameters = at<SamplingParameters>(m_parameters) + begin;
    arguments.tokens = target + begin;
    arguments.rows = static_cast<int>(end - begin);
    m_work->give(cuda::sample, arguments);
    begin = end;
  }
  HostBuffer& arriving = m_arriving.emplace_back(takeOfHost(drawn * sizeof(DeviceToken)));
  m_work->give(copyToHost, {arriving.data(), target, drawn * sizeof(DeviceToken)});
  m_arrivals.emplace_back([this, arrived = reinterpret_cast<const DeviceToken*>(arriving.data())] {
    for (std::size_t i = 0; i < m_results.tokens.size(); ++i) {
      m_results.tokens[i] = {
          .token = arrived[i].token, .probability = arrived[i].probability, .fault = arrived[i].fault};
    }
  });
}

void DevicePass::fetch(const void* values, std::int64_t count, bool isFloat) {
  const std::size_t index = m_results.fetched.size();
  m_results.fetched.emplace_back(static_cast<std::size_t>(count));
  if (count == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(count) * (isFloat ? sizeof(float) : sizeof(Bf16));
  // The size differs from step to step. Therefore the graph ends before this copy.
  m_work->replay();
  HostBuffer& arriving = m_arriving.emplace_back(m_supplies.buffers->takeOfHost(bytes));
  m_work->give(copyToHost, {arriving.data(), values, bytes});
  m_arrivals.emplace_back([this, index, isFloat, arrived = arriving.data()] {
    std::vector<float>& fetched = m_results.fetched[index];
    if (isFloat) {
      std::memcpy(fetched.data(), arrived, fetched.size() * sizeof(float));
      return;
    }
    const auto* const halves = reinterpret_cast<const std::uint16_t*>(arrived);
    std::transform(halves, halves + fetched.size(), fetched.begin(), compute::floatFromBf16);
  });
}

void DevicePass::settle() {
  m_work->replay();
  m_work->synchronize();
  // When the forward pass is stopped, the data may be missing.
  if (!m_work->wasStopped()) {
    for (const std::function<void()>& arrival : m_arrivals) arrival();
  }
  m_arrivals.clear();
  m_arriving.clear();
}

void DevicePass::narrow(const void* scores, std::int64_t count, bool isFloat) {
  if (!m_wide) throw Failure(errorAt("narrowing a pass", "a pass without further narrowings", "narrowings"));
  if (count != m_rows.own) refuse("scores", count, std::to_string(m_rows.own));
  fetch(scores, count, isFloat);
  settle();
  const std::vector<float> arrived = std::move(m_results.fetched.back());
  m_results.fetched.pop_back();
  const std::vector<std::int32_t> chosen = m_wide->narrowing.step(arrived);
  describe(m_wide->store, m_wide->narrowing.inputs(), chosen);
  m_results.keptRows = m_wide->narrowing.kept();
}

compute::PassResults DevicePass::finish() {
  settle();
  m_isDone = true;
  m_results.stopped = m_work->isStopRequested();
  return std::move(m_results);
}

const std::int32_t* DevicePass::list(compute::RowList list) const {
  switch (list) {
    case compute::RowList::Chosen:
      return at<std::int32_t>(m_chosen);
    case compute::RowList::Wanted:
      return at<std::int32_t>(m_wanted);
    case compute::RowList::Logits:
      break;
  }
  return at<std::int32_t>(m_logits);
}

bool DevicePass::choosesBlocks() const {
  return std::any_of(m_plain.decodes.begin(), m_plain.decodes.end(),
                     [](const DecodeLists& decode) { return decode.choiceRowCount > 0; });
}

RowCount DevicePass::count(compute::RowList list) const {
  switch (list) {
    case compute::RowList::Chosen:
      return m_chosenCount;
    case compute::RowList::Wanted:
      return m_wantedCount;
    case compute::RowList::Logits:
      break;
  }
  return m_logitCount;
}

}  // namespace spanscope::cuda
