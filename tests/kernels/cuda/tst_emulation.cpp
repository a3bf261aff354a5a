// SPDX-License-Identifier: GPL-3.0-or-later
// What the emulated card promises: it runs right kernels as a card does, and catches wrong ones.
#include "engine/base/error.h"
#include "kernels/cuda/device.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/cuda_emulation/sanitizers.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::SharedMemory;
using cuda::Stream;

namespace {

struct Arguments {
  std::uint32_t* out = nullptr;
  const std::uint32_t* in = nullptr;
  int variant = 0;
};

constexpr int kThreads = 96;
using Kernel = void (*)(Arguments);

/// Runs the kernel in one block; gives the message of the Failure, empty if there is none.
QString run(EmulatedDevice& card, Kernel kernel, const Arguments& arguments, std::size_t sharedBytes = 0,
            int blocks = 1) {
  try {
    cuda::launch(card.stream, "tried", {.grid = {blocks}, .threads = kThreads, .sharedBytes = sharedBytes},
                 kernel, arguments);
    card.stream.synchronize();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

/// Each thread gives its number to its neighbour; variant 1 forgets the barrier.
void rotateKernel(Arguments arguments) {
  SharedMemory shared;
  auto* const values = shared.take<std::uint32_t>(kThreads);
  const int self = cuda::threadIndex();
  values[self] = static_cast<std::uint32_t>(self);
  if (arguments.variant != 1) cuda::syncBlock();
  arguments.out[self] = values[(self + 1) % kThreads];
}

void warpKernel(Arguments arguments) {
  const int lane = cuda::laneIndex();
  const int self = cuda::threadIndex();
  const std::uint32_t votes = cuda::ballot(self % 3 == 0);
  const auto above = cuda::shuffle(static_cast<std::uint32_t>(self), (lane + 1) % 32);
  const auto flipped = cuda::shuffleXor(static_cast<std::uint64_t>(self), 16);
  const auto below = cuda::shuffleUp(static_cast<float>(self), 2);
  cuda::syncWarp();
  arguments.out[4 * self] = votes;
  arguments.out[4 * self + 1] = above;
  arguments.out[4 * self + 2] = static_cast<std::uint32_t>(flipped);
  arguments.out[4 * self + 3] = static_cast<std::uint32_t>(below);
}

/// Thread 40 does something else than the others.
void divergingKernel(Arguments arguments) {
  const bool odd = cuda::threadIndex() == 40;
  switch (arguments.variant) {
    case 0:  // leaves before a barrier
      if (odd) return;
      cuda::syncBlock();
      break;
    case 1:  // leaves before an operation of its warp
      if (odd) return;
      cuda::ballot(true);
      break;
    case 2:  // comes to another operation
      if (odd) {
        cuda::syncWarp();
      } else {
        cuda::ballot(true);
      }
      break;
    default:  // comes to a barrier where its warp waits for it
      if (odd) {
        cuda::syncBlock();
      } else {
        cuda::ballot(true);
      }
      break;
  }
}

void sharedKernel(Arguments arguments) {
  SharedMemory shared;
  auto* const first = shared.take<std::uint32_t>(10);
  const int self = cuda::threadIndex();
  if (arguments.variant == 1 && self == 3) first[10] = 1;  // one too far
  if (arguments.variant == 2) shared.take<std::uint32_t>(1000);
  if (arguments.variant == 3) shared.take<std::uint32_t>(self == 7 ? 2 : 1);
  if (self < 10) arguments.out[self] = first[self];  // nobody wrote there
}

/// Copies 16 bytes a thread; variant 1 does not wait, variant 2 waits for too little, variant 3 is
/// misaligned, variant 4 takes 6 bytes of the source.
void copyKernel(Arguments arguments) {
  SharedMemory shared;
  auto* const values = shared.take<std::uint32_t>(4 * kThreads);
  std::uint32_t* const own = values + 4 * cuda::threadIndex();
  const std::uint32_t* const source = arguments.in + 4 * cuda::threadIndex();
  cuda::copyAsync16(own + (arguments.variant == 3 ? 1 : 0), source, arguments.variant == 4 ? 6 : 16);
  cuda::commitCopies();
  if (arguments.variant == 2) cuda::waitCopies<1>();
  if (arguments.variant == 0 || arguments.variant == 4) cuda::waitCopies<0>();
  for (int i = 0; i < 4; ++i) arguments.out[4 * cuda::threadIndex() + i] = own[i];
  cuda::waitCopies<0>();
}

void atomicKernel(Arguments arguments) {
  cuda::atomicAdd(&arguments.out[0], 1U);
  cuda::atomicMin(&arguments.out[1], static_cast<std::uint32_t>(1000 - cuda::threadIndex()));
  cuda::atomicAdd(reinterpret_cast<std::uint64_t*>(arguments.out + 2), std::uint64_t{1} << 33U);
}

void doubleKernel(Arguments arguments) {
  const int self = cuda::blockIndex().x * cuda::threadCount() + cuda::threadIndex();
  arguments.out[self] = 2 * arguments.in[self];
}

void beyondKernel(Arguments arguments) {
  if (cuda::threadIndex() == 0) arguments.out[arguments.variant] = 1;
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0U);
  return values;
}

}  // namespace

class TestCudaEmulation : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void threadsMeetAtBarriers() {
    EmulatedDevice card;
    inEveryOrder(card, [&](const char* order) {
      const auto out = card.empty<std::uint32_t>(kThreads);
      QCOMPARE(run(card, rotateKernel, {.out = out.data()}, kThreads * 4), QString());
      const std::vector<std::uint32_t> values = card.download(out);
      for (std::size_t i = 0; i < kThreads; ++i) QVERIFY2(values[i] == (i + 1) % kThreads, order);
    });
  }

  void aForgottenBarrierShows() {
    if (SPANSCOPE_THREAD_SANITIZER) QSKIP("the thread sanitizer reports it");
    EmulatedDevice card;
    bool isWrong = false;
    inEveryOrder(card, [&](const char*) {
      const auto out = card.empty<std::uint32_t>(kThreads);
      QCOMPARE(run(card, rotateKernel, {.out = out.data(), .variant = 1}, kThreads * 4), QString());
      const std::vector<std::uint32_t> values = card.download(out);
      for (std::size_t i = 0; i < kThreads; ++i) isWrong = isWrong || values[i] != (i + 1) % kThreads;
    });
    QVERIFY(isWrong);
  }

  void lanesExchangeValues() {
    EmulatedDevice card;
    inEveryOrder(card, [&](const char*) {
      const auto out = card.empty<std::uint32_t>(std::size_t{4} * kThreads);
      QCOMPARE(run(card, warpKernel, {.out = out.data()}), QString());
      const std::vector<std::uint32_t> values = card.download(out);
      for (std::uint32_t self = 0; self < kThreads; ++self) {
        const std::uint32_t first = self / 32 * 32;
        std::uint32_t votes = 0;
        for (std::uint32_t lane = 0; lane < 32; ++lane) votes |= ((first + lane) % 3 == 0 ? 1U : 0U) << lane;
        QCOMPARE(values[4 * self], votes);
        QCOMPARE(values[4 * self + 1], first + (self + 1) % 32);
        QCOMPARE(values[4 * self + 2], self ^ 16U);
        QCOMPARE(values[4 * self + 3], self % 32 >= 2 ? self - 2 : self);
      }
    });
  }

  void divergenceIsAFailure_data() {
    QTest::addColumn<int>("variant");
    QTest::addColumn<QString>("text");
    QTest::newRow("leaves before a barrier")
        << 0 << "thread 40: Spanscope found has ended, but needs the barrier";
    QTest::newRow("leaves before its warp") << 1 << "thread 40: Spanscope found has ended, but needs ballot";
    QTest::newRow("another operation") << 2 << "ballot";
    QTest::newRow("a barrier instead")
        << 3 << "thread 40: Spanscope found waits at a barrier, but needs ballot";
  }
  void divergenceIsAFailure() {
    QFETCH(int, variant);
    QFETCH(QString, text);
    EmulatedDevice card;
    inEveryOrder(card, [&](const char*) {
      const QString message = run(card, divergingKernel, {.variant = variant});
      QVERIFY2(message.contains(text), qPrintable(message));
      QVERIFY2(message.contains("kernel tried, block (0, 0, 0)"), qPrintable(message));
    });
    // The card is whole afterwards.
    const auto out = card.empty<std::uint32_t>(kThreads);
    QCOMPARE(run(card, rotateKernel, {.out = out.data()}, kThreads * 4), QString());
  }

  void sharedMemoryIsOfTheSizeAskedFor() {
    EmulatedDevice card;
    const auto out = card.empty<std::uint32_t>(10);
    QCOMPARE(run(card, sharedKernel, {.out = out.data()}, 48), QString());
    for (const std::uint32_t value : card.download(out)) QCOMPARE(value, 0xFFFFFFFFU);
    QVERIFY(run(card, sharedKernel, {.out = out.data()}, 64).contains("all of the 64"));
    QVERIFY(run(card, sharedKernel, {.out = out.data(), .variant = 2}, 48).contains("at most the 48"));
    QVERIFY(
        run(card, sharedKernel, {.out = out.data(), .variant = 3}, 64).contains("as the threads before it"));
    if (!SPANSCOPE_ADDRESS_SANITIZER)  // which ends the program
      QVERIFY(run(card, sharedKernel, {.out = out.data(), .variant = 1}, 48)
                  .contains("beside its shared array 0"));
  }

  void copiesArriveWhenTheyAreWaitedFor() {
    EmulatedDevice card;
    const std::vector<std::uint32_t> source = numbers(std::size_t{4} * kThreads);
    const auto in = card.upload(source);
    const auto out = card.empty<std::uint32_t>(source.size());
    constexpr std::size_t kShared = std::size_t{16} * kThreads;
    QCOMPARE(run(card, copyKernel, {.out = out.data(), .in = in.data()}, kShared), QString());
    QCOMPARE(card.download(out), source);
    QCOMPARE(run(card, copyKernel, {.out = out.data(), .in = in.data(), .variant = 4}, kShared), QString());
    const std::vector<std::uint32_t> cut = card.download(out);
    QCOMPARE(cut[4], 4U);
    QCOMPARE(cut[5], 5U);  // its lower half
    QCOMPARE(cut[6], 0U);
    QVERIFY(run(card, copyKernel, {.out = out.data(), .in = in.data(), .variant = 3}, kShared)
                .contains("multiples of 16"));
    if (SPANSCOPE_ADDRESS_SANITIZER) return;  // which ends the program
    for (const int variant : {1, 2}) {
      QCOMPARE(run(card, copyKernel, {.out = out.data(), .in = in.data(), .variant = variant}, kShared),
               QString());
      QCOMPARE(card.download(out), std::vector<std::uint32_t>(source.size(), 0xFFFFFFFFU));
    }
  }

  void atomicsCountAllBlocks() {
    EmulatedDevice card;
    const auto out = card.upload(std::vector<std::uint32_t>{0, 5000, 0, 0});
    QCOMPARE(run(card, atomicKernel, {.out = out.data()}, 0, 5), QString());
    const std::vector<std::uint32_t> expected{5 * kThreads, 1000 - (kThreads - 1), 0, 2 * 5 * kThreads};
    QCOMPARE(card.download(out), expected);
  }

  void memoryStartsUnwrittenAndIsGuarded() {
    EmulatedDevice card;
    const auto floats = card.empty<float>(5);
    for (const float value : card.download(floats)) QVERIFY(std::isnan(value));
    const auto halves = card.empty<cuda::Bf16>(5);
    for (const cuda::Bf16 value : card.download(halves)) QVERIFY(std::isnan(valueOf(value)));
    if (SPANSCOPE_ADDRESS_SANITIZER) return;  // which ends the program
    const auto out = card.empty<std::uint32_t>(8);
    for (const int beside : {8, -1}) {
      const QString message = run(card, beyondKernel, {.out = out.data(), .variant = beside});
      QVERIFY2(message.contains("a write beside its 32 bytes"), qPrintable(message));
      // As it was, for the next one.
      *(out.data() + beside) = 0xA5A5A5A5U;
    }
  }

  void workRunsWhenItIsWaitedFor() {
    EmulatedDevice card;
    const auto in = card.upload(numbers(kThreads));
    const auto out = card.empty<std::uint32_t>(kThreads);
    std::vector<std::uint32_t> result(kThreads, 7);
    cuda::Event event(card.device);
    QVERIFY(event.reached());
    cuda::launch(card.stream, "double", {.threads = kThreads}, doubleKernel,
                 Arguments{.out = out.data(), .in = in.data()});
    card.stream.copyToHost(result.data(), out.data(), kThreads * 4);
    card.stream.record(event);
    QCOMPARE(result[1], 7U);
    // Another stream that waits for the event sees the values before it.
    Stream other(card.device);
    std::vector<std::uint32_t> again(kThreads);
    other.wait(event);
    other.copyToHost(again.data(), out.data(), kThreads * 4);
    other.synchronize();
    QCOMPARE(result[95], 190U);
    QCOMPARE(again[95], 190U);
    QVERIFY(event.reached());
    QVERIFY(event.millisecondsSince(event) >= 0);
  }

  void graphsReplayWhatWasRecorded() {
    EmulatedDevice card;
    const auto in = card.upload(numbers(kThreads));
    const auto out = card.empty<std::uint32_t>(kThreads);
    const cuda::Graph graph = card.stream.capture([&] {
      cuda::launch(card.stream, "double", {.threads = kThreads}, doubleKernel,
                   Arguments{.out = out.data(), .in = in.data()});
      card.stream.copyOnDevice(in.data(), out.data(), kThreads * 4);
      QVERIFY_THROWS_EXCEPTION(Failure, card.stream.synchronize());
      QVERIFY_THROWS_EXCEPTION(Failure, card.empty<float>(1));
    });
    QCOMPARE(card.download(in)[5], 5U);
    for (int i = 0; i < 3; ++i) card.stream.replay(graph);
    QCOMPARE(card.download(in)[5], 40U);
    QCOMPARE(cuda::emulation::launchesOf(card.device), std::size_t{3});
  }

  void badCallsAreFailures() {
    EmulatedDevice card;
    const auto out = card.empty<std::uint32_t>(4);
    std::vector<std::uint32_t> host(8);
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::Device::open(1));
    QVERIFY_THROWS_EXCEPTION(Failure, card.stream.copyToDevice(out.data(), host.data(), 17));
    QVERIFY_THROWS_EXCEPTION(Failure, card.stream.copyToHost(host.data(), out.data() + 1, 16));
    QVERIFY_THROWS_EXCEPTION(Failure, card.stream.fill(host.data(), 0, 4));
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::DeviceMemory(card.device, std::size_t{1} << 40U, "too much"));
    QVERIFY_THROWS_EXCEPTION(Failure,
                             cuda::launch(card.stream, "x", {.threads = 48}, doubleKernel, Arguments{}));
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::launch(card.stream, "x", {.threads = 32, .sharedBytes = 200000},
                                                   doubleKernel, Arguments{}));
  }

  void matrixProducts_data() {
    QTest::addColumn<bool>("toFloat");
    QTest::addColumn<bool>("accumulate");
    for (const bool toFloat : {false, true}) {
      for (const bool accumulate : {false, true})
        QTest::addRow("%s%s", toFloat ? "f32" : "bf16", accumulate ? ", added" : "") << toFloat << accumulate;
    }
  }
  void matrixProducts() {
    QFETCH(bool, toFloat);
    QFETCH(bool, accumulate);
    EmulatedDevice card;
    const auto x = card.upload(testing::toBf16(std::vector<float>{1, 2, 3, 99, 4, 5, 6}));  // 2 × 3, 4 apart
    const auto weight = card.upload(testing::toBf16(std::vector<float>{1, 0, -1, 2, 2, 2}));  // 2 × 3
    const std::vector<float> before{10, 20, 30, 40};
    const auto floats = card.upload(before);
    const auto halves = card.upload(testing::toBf16(before));
    cuda::MatrixProducts products(card.device);
    void* const out = toFloat ? static_cast<void*>(floats.data()) : halves.data();
    products.run(card.stream, {.rows = 2,
                               .columns = 2,
                               .depth = 3,
                               .x = x.data(),
                               .xStride = 4,
                               .weight = weight.data(),
                               .weightStride = 3,
                               .out = out,
                               .outStride = 2,
                               .outIsFloat = toFloat,
                               .accumulate = accumulate});
    const std::vector<float> values = toFloat ? card.download(floats) : toFloats(card.download(halves));
    std::vector<float> expected{-2, 12, -2, 30};
    for (std::size_t i = 0; i < 4 && accumulate; ++i) expected[i] += before[i];
    QCOMPARE(values, expected);
  }
};

SPANSCOPE_TEST(tst_emulation, TestCudaEmulation)
#include "tst_emulation.moc"
