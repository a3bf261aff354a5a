// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/matmul.h"

#include "kernels/cpu/fast/fast_kernels.h"

#include <algorithm>
#include <utility>

namespace spanscope::cpu {

namespace {

// Max rows that are packed together. The limit bounds the scratch memory. Reading the weights once serves all
// these rows.
constexpr std::int64_t kMostRows = 768;
// A block's packed rows (kRowBlock × columns) share the second-level cache with its sums. A panel's part
// (columns × panelWidth) stays in the first level.
constexpr std::int64_t kRowBlock = 96;
constexpr std::int64_t kMostColumns = 288;
constexpr std::int64_t kColumnStep = 32;  ///< whole cache lines, and whole parts of most formats
constexpr std::int64_t kBlockFeatures = 256;
// Packed weights are widened once for all rows of a block. Twice as many rows halve the cost, and still leave
// half of a second-level cache of a MiB. Rows of lower precision take less of the cache anyway.
constexpr std::int64_t kLargeRowBlock = 192;
// Min number of row tiles for which 16-bit weights, too, are widened once for all tiles.
constexpr std::int64_t kTilesWorthWidening = 8;
// Columns of packed weights that are widened together for few rows. The columns are parts of whole blocks.
// Four panels stay in the nearest cache.
constexpr std::int64_t kWidenedColumns = 64;
// Columns of borrowed weights that are arranged together for few rows. Each feature has consecutive memory
// that is long enough for fast reads. Four panels stay in the second-level cache.
constexpr std::int64_t kBorrowedColumns = 512;
// With few rows, weights are streamed. A block has at most about this many bytes of weights.
constexpr std::int64_t kStreamedBytes = 2048 * 1024;

// Up to this number of packings, all threads share each packing. More packings are distributed.
constexpr std::size_t kMostDividedPackings = 4;

constexpr auto kLineBytes = static_cast<std::int64_t>(AlignedBuffer::kAlignment);
constexpr auto kLineFloats = kLineBytes / static_cast<std::int64_t>(sizeof(float));

std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Max columns per step: nearly equal parts of whole blocks of the format. A short part would take as long
/// for loading and storing its sums.
std::int64_t columnBlockOf(const CpuWeight& weight) {
  const std::int64_t step =
      std::max<std::int64_t>(kColumnStep, compute::infoOf(weight.format()).blockElements);
  const std::int64_t parts = ceilDiv(weight.columns(), kMostColumns);
  return ceilDiv(ceilDiv(weight.columns(), parts), step) * step;
}

std::size_t roundedToLine(std::size_t bytes) {
  return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment * AlignedBuffer::kAlignment;
}

}  // namespace

Matmul::Matmul(compute::Arithmetic arithmetic) : m_kernels(matmulKernels()) {
  if (arithmetic != compute::Arithmetic::Fast) return;
  m_lowPrecision = cpu::lowPrecision();
  m_pairKernels = pairKernels(m_lowPrecision.pairDots);
  m_byteKernels = byteKernels(m_lowPrecision.byteDots);
}

PanelLayout Matmul::layoutFor(compute::WeightFormat format) const {
  using Layout = CpuWeight::Layout;
  if (m_lowPrecision.pairDots != PairDots::None && format == compute::WeightFormat::BF16)
    return {Layout::Bf16Pairs, m_pairKernels.panelWidth};
  if (m_lowPrecision.byteDots != ByteDots::None && compute::infoOf(format).isPacked())
    return {Layout::ByteGroups, m_byteKernels.panelWidth};
  return {Layout::Panels, m_kernels.panelWidth};
}

const MatmulKernels& Matmul::kernelsFor(const CpuWeight& weight) const {
  switch (weight.layout()) {
    case CpuWeight::Layout::Bf16Pairs:
      return m_pairKernels;
    case CpuWeight::Layout::ByteGroups:
      return m_byteKernels;
    default:
      return m_kernels;
  }
}

void Matmul::add(Executor& executor, const CpuTensor& x, const CpuWeight& weight, const CpuWeight* bias,
                 bool accumulate, CpuTensor& out) {
  const bool fits = std::ranges::all_of(
      m_waiting, [&](const Waiting& other) { return other.x == &x && other.out != &x && other.out != &out; });
  if (!fits) settle(executor);
  if (!accumulate) out.resize(x.rows(), weight.rows());
  m_waiting.push_back({{0, x.rows(), &x, &weight, bias, &out}, accumulate});
}

void Matmul::multiplyGroups(Executor& executor, std::span<const RowProduct> products) {
  settle(executor);
  m_running.clear();
  for (const RowProduct& product : products) m_running.push_back({product, false});
  runAll(executor);
}

void Matmul::settle(Executor& executor) {
  if (m_waiting.empty()) return;
  m_running.clear();
  std::swap(m_running, m_waiting);
  runAll(executor);
}

void Matmul::runAll(Executor& executor) {
  std::int64_t rows = 0;
  for (const Waiting& product : m_running) rows = std::max(rows, product.rows);
  for (std::int64_t first = 0; first < rows && !executor.stopped(); first += kMostRows)
    runRows(executor, first);
}

Matmul::Piece Matmul::pieceOf(const Waiting& product, std::int64_t first, std::int64_t rows,
                              std::int64_t threads) const {
  const CpuWeight& weight = *product.weight;
  Piece piece;
  piece.kernels = &kernelsFor(weight);
  const MatmulKernels& kernels = *piece.kernels;
  MatmulJob& job = piece.job;
  job.weight = &weight;
  job.bias = product.bias != nullptr ? product.bias->data<float>() : nullptr;
  job.columns = weight.columns();
  job.features = weight.rows();
  job.panels = ceilDiv(job.features, kernels.panelWidth);
  job.accumulate = product.accumulate;
  job.rowTiles = {rows, ceilDiv(rows, kernels.rowTile)};
  job.out = product.out->row(first);
  piece.x = product.x->row(first);

  const bool isPacked = compute::infoOf(weight.format()).isPacked();
  const bool isFast = weight.layout() != CpuWeight::Layout::Panels;
  const bool isWidened = isPacked || (!isFast && weight.format() != compute::WeightFormat::F32 &&
                                      job.rowTiles.tiles >= kTilesWorthWidening);
  std::int64_t panelStep = 1;
  if (job.rowTiles.tiles == 1) {
    job.rowBlock = 1;
    if (isPacked)
      job.columnBlock = isFast || weight.isBorrowed() ? columnBlockOf(weight) : kWidenedColumns;
    else
      job.columnBlock = weight.isBorrowed() ? kBorrowedColumns : job.columns;
    job.columnBlock = std::min(job.columnBlock, job.columns);
    // Each thread streams one contiguous range of memory. Large weights have several ranges per thread. Other
    // threads can then take ranges of a delayed thread.
    job.panelBlock = std::min(std::max<std::int64_t>(1, kStreamedBytes / weight.panelBytes()),
                              ceilDiv(job.panels, threads));
    panelStep = kernels.mostPanels;
  } else {
    const std::int64_t most = ceilDiv(isPacked || isFast ? kLargeRowBlock : kRowBlock, kernels.rowTile);
    job.rowBlock = ceilDiv(job.rowTiles.tiles, ceilDiv(job.rowTiles.tiles, most));
    job.columnBlock = columnBlockOf(weight);
    // A narrow product also has work for every thread.
    job.panelBlock =
        std::min(kBlockFeatures / kernels.panelWidth,
                 ceilDiv(job.panels, ceilDiv(3 * threads, ceilDiv(job.rowTiles.tiles, job.rowBlock))));
  }
  job.panelBlock = ceilDiv(job.panelBlock, panelStep) * panelStep;
  piece.rowBlocks = ceilDiv(job.rowTiles.tiles, job.rowBlock);
  piece.blocks = piece.rowBlocks * ceilDiv(job.panels, job.panelBlock);
  piece.sums = job.rowBlock * kernels.rowTile * job.panelBlock * kernels.panelWidth;
  const std::int64_t columns = panelStep * job.columnBlock * kernels.panelWidth;
  piece.widened = isWidened ? columns : 0;
  if (weight.isBorrowed())
    piece.arranged = isPacked ? ceilDiv(weight.panelBytes(), kLineBytes) * kLineFloats : columns;
  return piece;
}

/// Products whose rows are packed in the same way share the packed rows.
void Matmul::packRows(Executor& executor) {
  m_packings.clear();
  std::size_t bytes = 0;
  for (Piece& piece : m_pieces) {
    const std::int64_t rows = piece.job.rowTiles.rows;
    if (rows == 1 && piece.kernels->readsSingleRow) {
      piece.job.packedRows = reinterpret_cast<const std::byte*>(piece.x);
      continue;
    }
    const auto same = std::ranges::find_if(m_packings, [&](const Packing& other) {
      return other.piece->x == piece.x && other.piece->kernels == piece.kernels &&
             other.piece->job.weight->format() == piece.job.weight->format();
    });
    piece.packing = static_cast<std::size_t>(same - m_packings.begin());
    if (same != m_packings.end()) continue;
    m_packings.push_back({&piece, nullptr});
    bytes +=
        roundedToLine(checkedBytes("packed rows", rows, piece.kernels->packedRowBytes(*piece.job.weight)));
  }
  if (m_packings.empty()) return;
  m_packedRows.reserve(bytes, "packed rows");
  std::byte* next = m_packedRows.as<std::byte>();
  for (Packing& packing : m_packings) {
    const MatmulJob& job = packing.piece->job;
    packing.out = next;
    next += roundedToLine(
        static_cast<std::size_t>(job.rowTiles.rows * packing.piece->kernels->packedRowBytes(*job.weight)));
  }
  for (Piece& piece : m_pieces) {
    if (piece.job.packedRows == nullptr) piece.job.packedRows = m_packings[piece.packing].out;
  }
  const auto pack = [](const Packing& packing, std::int64_t begin, std::int64_t end) {
    const Piece& piece = *packing.piece;
    piece.kernels->packRows(*piece.job.weight, piece.x, piece.job.rowTiles, begin, end, packing.out);
  };
  // The groups of a mixture of experts have few rows each.
  if (m_packings.size() > kMostDividedPackings) {
    const auto count = static_cast<std::int64_t>(m_packings.size());
    executor.run(count, static_cast<std::int64_t>(bytes), [&](std::int64_t index, int /*thread*/) {
      const Packing& packing = m_packings[static_cast<std::size_t>(index)];
      pack(packing, 0, packing.piece->job.rowTiles.tiles);
    });
    return;
  }
  for (const Packing& packing : m_packings) {
    const MatmulJob& job = packing.piece->job;
    executor.runRanges(job.rowTiles.tiles, packing.piece->kernels->rowTile * job.columns,
                       [&](std::int64_t begin, std::int64_t end) { pack(packing, begin, end); });
  }
}

void Matmul::runRows(Executor& executor, std::int64_t first) {
  const std::int64_t threads = executor.threads();
  m_pieces.clear();
  std::int64_t blocks = 0;
  std::int64_t work = 0;
  std::int64_t floats = 0;
  for (const Waiting& product : m_running) {
    const std::int64_t rows = std::min(kMostRows, product.rows - first);
    if (rows <= 0) continue;
    Piece& piece = m_pieces.emplace_back(pieceOf(product, product.firstRow + first, rows, threads));
    piece.firstBlock = blocks;
    blocks += piece.blocks;
    work += rows * piece.job.columns * piece.job.features;
    floats = std::max(floats, piece.scratch());
  }
  packRows(executor);
  m_scratch.reserve(checkedBytes("sums", floats, threads, sizeof(float)), "sums");
  float* const scratch = m_scratch.as<float>();
  executor.run(blocks, work, [&](std::int64_t index, int thread) {
    const auto after = std::ranges::upper_bound(m_pieces, index, {}, &Piece::firstBlock);
    const Piece& piece = *(after - 1);
    const std::int64_t block = index - piece.firstBlock;
    float* const own = scratch + thread * floats;
    // Neighbouring blocks share panels. Panels are read from memory once; the rows stay in a cache anyway.
    piece.kernels->block(piece.job, block % piece.rowBlocks, block / piece.rowBlocks,
                         {.sums = own,
                          .widened = piece.widened > 0 ? own + piece.sums : nullptr,
                          .arranged = reinterpret_cast<std::byte*>(own + piece.sums + piece.widened)});
  });
}

}  // namespace spanscope::cpu
