// SPDX-License-Identifier: GPL-3.0-or-later
// What the backend makes of cards of several kinds, and what it asks of them and does not.
#include "engine/base/error.h"
#include "engine/compute/backends.h"
#include "kernels/cuda/backend/attention_work.h"
#include "kernels/cuda/backend/cuda_backend.h"
#include "kernels/cuda/backend/device_work.h"
#include "kernels/cuda/backend/driver_release.h"
#include "tests/kernels/attention_scene.h"
#include "tests/support/compare.h"
#include "tests/support/cuda_emulation/emulation.h"
#include "tests/support/passes.h"
#include "tests/support/product_text.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using cuda::DeviceProperties;
using cuda::emulation::machineCounts;
using cuda::emulation::PluggedDevices;
using cuda::emulation::ThreadOrder;
using spanscope::product_text::says;

namespace {

DeviceProperties card(int major, int minor) {
  DeviceProperties properties = cuda::emulation::usualDevice();
  properties.major = major;
  properties.minor = minor;
  properties.runtimeVersion = 13000;
  properties.driverVersion = 13010;
  return properties;
}

DeviceProperties deviceWithShared(std::size_t bytes) {
  DeviceProperties properties = cuda::emulation::usualDevice();
  properties.sharedBytesPerBlock = bytes;
  return properties;
}

std::string revisionOn(const DeviceProperties& properties, bool exact = false) {
  const PluggedDevices plugged({properties});
  return cuda::makeCudaBackend({.exact = exact})->info().numericRevision;
}

std::string failureOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestCudaDevices : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A context has some hundred megabytes; a machine may have eight cards.
  void listingDevicesTakesNothingOfThem() {
    DeviceProperties small = card(8, 6);
    small.memoryBytes = std::size_t{1} << 20U;
    const PluggedDevices plugged({card(9, 0), small, card(7, 5)});
    const compute::Backends backends({cuda::cudaBackendKind()});
    const std::size_t before = machineCounts().contexts;
    const std::vector<compute::Device> devices = backends.devices();
    QCOMPARE(devices.size(), std::size_t{3});
    QCOMPARE(devices[1].memoryBytes, std::uint64_t{1} << 20U);
    QVERIFY(devices[0].isUsable() && devices[1].isUsable() && !devices[2].isUsable());
    QCOMPARE(machineCounts().contexts, before);
    // The one that is chosen is asked what is free.
    const compute::ChosenDevice chosen = backends.choose("cuda:1");
    QCOMPARE(chosen.index, 1);
    QCOMPARE(chosen.device.memoryBytes, std::uint64_t{1} << 20U);
    QCOMPARE(machineCounts().contexts, before + 1);
  }

  void theRevisionNamesWhoMadeTheCode_data() {
    QTest::addColumn<int>("major");
    QTest::addColumn<int>("minor");
    QTest::addColumn<bool>("isByDriver");
    QTest::newRow("8.0") << 8 << 0 << false;
    QTest::newRow("8.9") << 8 << 9 << false;
    QTest::newRow("9.0") << 9 << 0 << false;
    QTest::newRow("10.0") << 10 << 0 << true;
    QTest::newRow("12.1") << 12 << 1 << true;
  }
  void theRevisionNamesWhoMadeTheCode() {
    QFETCH(int, major);
    QFETCH(int, minor);
    QFETCH(bool, isByDriver);
    for (const bool exact : {false, true}) {
      DeviceProperties properties = card(major, minor);
      properties.driverRelease = "580.65.06";
      const std::string usual = revisionOn(properties, exact);
      QVERIFY(usual.find("CUDA 13.0") != std::string::npos);
      QCOMPARE(usual.find("580.65.06") != std::string::npos, isByDriver);
      properties.driverRelease = "580.82.07";
      QCOMPARE(revisionOn(properties, exact) != usual, isByDriver);
      properties.driverRelease = "";
      properties.driverVersion = 13020;
      const std::string unnamed = revisionOn(properties, exact);
      properties.driverVersion = 13030;
      QCOMPARE(revisionOn(properties, exact) != unnamed, isByDriver);
      // Whatever code there is for the card.
      properties.isToldToCompile = true;
      QVERIFY(revisionOn(properties, exact).find("by driver for CUDA 13.3") != std::string::npos);
    }
  }

  void readsTheDriversRelease() {
    QCOMPARE(
        cuda::driverReleaseIn("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 2025"),
        std::string("580.65.06"));
    QCOMPARE(cuda::driverReleaseIn(
                 "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57  Release Build"),
             std::string("575.57"));
    for (const char* line : {"", "   ", "x86_64", "Module 580", ". .", "a.b 1.x"})
      QCOMPARE(cuda::driverReleaseIn(line), std::string());
  }

  /// Heads of 256 take 99 KB with many rows, less one by one, and something on every card.
  void kernelsAreChosenByTheirSharedMemory() {
    const compute::AttentionShape shape{.queryHeads = 4, .keyHeads = 2, .headSize = 256, .scale = 1};
    const auto on = [&](std::size_t bytes, DType type) {
      return cuda::tensorAttention(
          shape, {.layers = 1, .blocks = 1, .heads = 2, .headSize = 256, .type = type}, bytes);
    };
    QVERIFY(on(101376, DType::BF16).ofMany && on(101376, DType::BF16).ofSingle);
    QVERIFY(!on(101375, DType::BF16).ofMany && on(101375, DType::BF16).ofSingle);
    QVERIFY(!on(101376, DType::F32).ofMany && !on(101376, DType::F32).ofSingle);
    const std::string failure = failureOf([&] { on(48 << 10, DType::BF16); });
    QVERIFY2(says(failure, "heads of 256 in bf16, 2 <query-heads-to-a-key-head>") &&
                 says(failure, " 49152 <shared-memory-of-a-card>"),
             failure.c_str());
  }

  /// On a card that has too little for a kernel the next one attends.
  void devicesWithLessAttendToo_data() {
    QTest::addColumn<int>("kilobytes");
    QTest::addColumn<bool>("exact");
    QTest::addColumn<bool>("isFloat");
    for (const bool exact : {false, true}) {
      for (const bool isFloat : {false, true}) {
        for (const int kilobytes : {99, 98, 80}) {
          QTest::addRow("%d KB%s%s", kilobytes, exact ? ", bit-equal" : "", isFloat ? ", f32" : "")
              << kilobytes << exact << isFloat;
        }
      }
    }
  }
  void devicesWithLessAttendToo() {
    QFETCH(int, kilobytes);
    QFETCH(bool, exact);
    QFETCH(bool, isFloat);
    Random random(m_seed);
    const Scene scene = makeScene({.queryHeads = 2,
                                   .keyHeads = 1,
                                   .headSize = 256,
                                   .blockSize = 8,
                                   .type = isFloat ? DType::F32 : DType::BF16,
                                   .segments = 2,
                                   .mostTokens = 40,
                                   .rows = 20},
                                  random);
    ReferenceBackend reference;
    const SceneResult expected = runScene(reference, scene, {.observed = false});
    const PluggedDevices plugged({deviceWithShared(static_cast<std::size_t>(kilobytes) << 10U)});
    const auto backend = cuda::makeCudaBackend({.exact = exact});
    for (const bool observed : {false, true}) {
      const SceneResult found = runScene(*backend, scene, {.observed = observed});
      const Comparison comparison = compareAbsolute(found.out, expected.out, outTolerance(scene, 0x1p-8));
      QVERIFY2(comparison.ok, comparison.text().c_str());
    }
  }

  void aDeviceWithTooLittleSaysSo() {
    const PluggedDevices plugged({deviceWithShared(48U << 10U)});
    const std::string failure = failureOf([] { cuda::makeCudaBackend({.exact = true}); });
    QVERIFY2(failure.find("49152 bytes") != std::string::npos, failure.c_str());
    const auto backend = cuda::makeCudaBackend({});
    Random random(m_seed);
    const Scene scene =
        makeScene({.queryHeads = 1, .keyHeads = 1, .headSize = 256, .segments = 1, .rows = 2}, random);
    const std::string refusal = failureOf([&] { runScene(*backend, scene); });
    QVERIFY2(refusal.find("shared memory") != std::string::npos, refusal.c_str());
  }

  void eventsAreUsedAgain() {
    const cuda::Device device = cuda::Device::open(0);
    cuda::Stream stream(device);
    cuda::WorkInFlight inFlight(device, stream);
    const std::size_t before = machineCounts().events;
    for (int pass = 0; pass < 20; ++pass) {
      for (int layer = 0; layer < 80; ++layer) inFlight.limit(50);
      stream.synchronize();
      inFlight.clear();
    }
    QVERIFY2(machineCounts().events - before <= 66,
             qPrintable(QString::number(machineCounts().events - before)));
  }

  /// Blocks are copied after earlier commands, and before later ones; the host continues.
  void copiesDoNotWait_data() {
    QTest::addColumn<ThreadOrder>("order");
    QTest::newRow("blocks from the first on") << ThreadOrder::Ascending;
    QTest::newRow("from the last on") << ThreadOrder::Descending;
  }
  void copiesDoNotWait() {
    QFETCH(ThreadOrder, order);
    const PluggedDevices plugged({cuda::emulation::usualDevice()}, order);
    const compute::KvShape shape{2, 600, 4, 2, 16, DType::BF16};
    const auto backend = cuda::makeCudaBackend({});
    const auto store = backend->makeKvStore(shape);
    const compute::RotaryTable rotary{std::vector<double>(8, 0.0), 1.0F};
    const auto write = [&](float value, compute::Pass& pass) {
      const auto tensor = backend->makeTensor();
      backend->upload(std::vector<float>(4 * 32, value), 4, 32, *tensor);
      for (const std::int32_t layer : {0, 1}) backend->storeKeysValues(pass, *tensor, *tensor, layer, *store);
    };
    const auto passInto = [&](BlockId block) {
      compute::PassInputs inputs = plainRows(4);
      for (std::int64_t slot = 0; slot < 4; ++slot) {
        inputs.localIndices[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(slot);
        inputs.slots[static_cast<std::size_t>(slot)] = std::int64_t{block} * 4 + slot;
      }
      return backend->makePass({2, 2, 16, 1.0F}, rotary, shape, inputs);
    };
    const auto first = passInto(1);
    write(1, *first);
    const auto second = passInto(1);
    const std::size_t before = machineCounts().waits;
    // More than one launch takes, and some that read what others wrote.
    std::vector<compute::BlockCopy> copies{{1, 2, 4}, {2, 3, 4}};
    for (BlockId block = 4; block < 500; ++block) copies.push_back({1, block, 3});
    backend->copyBlocks(copies, *store);
    copies.assign(copies.size(), {0, 0, 0});
    QCOMPARE(machineCounts().waits, before);
    write(2, *second);
    backend->copyBlocks(std::vector<compute::BlockCopy>{{1, 501, 4}}, *store);
    backend->finish(*first);
    backend->finish(*second);
    const auto valueIn = [&](BlockId block) {
      std::vector<float> key(32);
      std::vector<float> value(32);
      store->read(1, std::int64_t{block} * 4 + 2, key, value);
      return value.front();
    };
    QCOMPARE(valueIn(1), 2.0F);
    QCOMPARE(valueIn(501), 2.0F);
    for (const BlockId block : {2, 3, 4, 131, 132, 259, 499}) QCOMPARE(valueIn(block), 1.0F);
  }

 private:
  std::uint64_t m_seed = testSeed(20261123);
};

SPANSCOPE_TEST(tst_cards, TestCudaDevices)
#include "tst_cards.moc"
