// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/attention.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace spanscope::cpu {

void Attention::run(Executor& executor, const RowKernels& rows, const CpuAttentionPlan& plan,
                    const CpuTensor& queries, const CpuKvStore& store, std::int32_t layer, CpuTensor& out,
                    const float* sinks, const compute::MassRequest* request,
                    std::vector<compute::RunMass>* mass) {
  const compute::AttentionShape& shape = plan.shape();
  out.resize(queries.rows(), queries.columns());
  const bool wantsMass = request != nullptr && mass != nullptr && !request->runs.empty();

  AttentionJob job{.plan = &plan,
                   .store = &store,
                   .rows = &rows,
                   .stop = &executor.stopToken(),
                   .layer = layer,
                   .queries = queries.data(),
                   .out = out.data(),
                   .sinks = sinks};
  const std::int64_t group = shape.queryHeads / shape.keyHeads;
  m_scratchFloats = m_kernels.scratchFloats(plan.rowsPerTask() * group, shape.headSize);
  m_scratch.reserve(checkedBytes("attention", m_scratchFloats, executor.threads(), sizeof(float)),
                    "attention");
  if (wantsMass) {
    m_weightScale.reserve(checkedBytes("attention", queries.rows(), shape.queryHeads, 2, sizeof(float)),
                          "attention");
    job.weightScale = m_weightScale.as<float>();
  }

  if (!plan.joins().empty()) {
    std::int64_t most = 0;
    m_remaining.clear();
    for (const AttentionJoin& join : plan.joins()) {
      most = std::max(most, join.rows.rowCount * group);
      m_remaining.push_back(join.tasks);
    }
    job.resultFloats = m_kernels.resultFloats(most, shape.headSize);
    m_results.reserve(checkedBytes("attention", plan.results(), job.resultFloats, sizeof(float)),
                      "attention");
    job.results = m_results.as<float>();
    job.remaining = m_remaining.data();
  }

  if (plan.choosesBlocks()) learnBounds(executor, plan, store, layer);

  float* scratch = m_scratch.as<float>();
  const std::vector<AttentionTask>& tasks = plan.tasks();
  executor.run(static_cast<std::int64_t>(tasks.size()), plan.work(), [&](std::int64_t index, int thread) {
    m_kernels.attend(job, tasks[static_cast<std::size_t>(index)], scratch + thread * m_scratchFloats);
  });
  if (wantsMass) runMass(executor, job, *request, *mass);
}

void Attention::runMass(Executor& executor, const AttentionJob& job, const compute::MassRequest& request,
                        std::vector<compute::RunMass>& mass) {
  const compute::AttentionShape& shape = job.plan->shape();
  const std::vector<PlannedRun>& runs = job.plan->runs();
  const std::int64_t blockSize = job.store->shape().blockSize;
  const std::int64_t group = shape.queryHeads / shape.keyHeads;

  std::vector<MassTask> tasks;
  std::int64_t sumCount = 0;
  std::int64_t firstCount = 0;
  mass.clear();
  for (std::size_t entry = 0; entry < request.runs.size(); ++entry) {
    const std::uint32_t index = request.runs[entry];
    if (index >= runs.size()) {
      throw Failure(Error{"", "attention mass", "query run " + std::to_string(index),
                          "one of " + std::to_string(runs.size())});
    }
    compute::RunMass& result = mass.emplace_back();
    result.run = index;
    result.keySpan = request.keySpan(entry, static_cast<std::int32_t>(blockSize));
    std::int64_t keyBlocks = 0;
    for (const PlannedRange& range : runs[index].ranges) {
      const std::int64_t end = std::max<std::int64_t>(range.end, 0);
      const std::int64_t blocks = (end + result.keySpan - 1) / result.keySpan;
      result.keyBlocks.push_back(static_cast<std::int32_t>(blocks));
      keyBlocks += blocks;
    }
    result.mass.resize(static_cast<std::size_t>(keyBlocks * shape.queryHeads));
    const auto ranges = static_cast<std::int64_t>(runs[index].ranges.size());
    result.first.resize(static_cast<std::size_t>(ranges * shape.queryHeads));
    for (std::int32_t head = 0; head < shape.keyHeads; ++head) {
      tasks.push_back({index, head, result.keySpan, keyBlocks, ranges, nullptr, nullptr});
      sumCount += keyBlocks * group;
      firstCount += ranges * group;
    }
  }

  std::vector<double> sums(static_cast<std::size_t>(sumCount));
  std::vector<double> firstSums(static_cast<std::size_t>(firstCount));
  double* nextSums = sums.data();
  double* nextFirst = firstSums.data();
  for (MassTask& task : tasks) {
    task.sums = nextSums;
    task.firstSums = nextFirst;
    nextSums += task.keyBlocks * group;
    nextFirst += task.ranges * group;
  }
  float* scratch = m_scratch.as<float>();
  executor.run(
      static_cast<std::int64_t>(tasks.size()), job.plan->work(), [&](std::int64_t index, int thread) {
        m_kernels.mass(job, tasks[static_cast<std::size_t>(index)], scratch + thread * m_scratchFloats);
      });

  // Tasks are in the order of runs and heads. The sums of the tasks therefore already have the order of the
  // results.
  auto sum = sums.cbegin();
  auto firstSum = firstSums.cbegin();
  for (compute::RunMass& result : mass) {
    for (float& value : result.mass) value = static_cast<float>(*sum++);
    for (float& value : result.first) value = static_cast<float>(*firstSum++);
  }
}

}  // namespace spanscope::cpu
