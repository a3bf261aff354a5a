// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/trace/sink.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using spanscope::product_text::worded;

class TestModelBundle : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void loadingStops();
  void weightsThatAreCutAreAnError_data();
  void weightsThatAreCutAreAnError();
  void isOpenedForAContext_data();
  void isOpenedForAContext();
  void borrowedWeightsMayNotChange_data();
  void borrowedWeightsMayNotChange();
  void theDigestIsMadeWhenItIsWanted();
  void theDigestOfChangedWeightsIsRefused();
};

namespace {

/// A copy of the bundled model that may be spoilt.
class OwnCopy {
 public:
  OwnCopy() {
    std::filesystem::copy(
        workbench::bundledModelDirectory(), directory(),
        std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive);
  }
  std::filesystem::path directory() const { return m_folder.path().toStdString(); }
  std::filesystem::path weights() const { return directory() / "model.safetensors"; }
  /// As if somebody had written to it.
  void touch() const {
    std::filesystem::last_write_time(weights(),
                                     std::filesystem::last_write_time(weights()) + std::chrono::seconds(1));
  }

 private:
  QTemporaryDir m_folder;
};

model::ForwardResult onePass(workbench::ModelBundle& bundle) {
  const auto store = bundle.backend->makeKvStore(bundle.decoder->kvShape(2, 16, compute::DType::F32));
  model::Batch batch;
  batch.tokens = {1};
  batch.localIndices = {0};
  batch.slots = {0};
  batch.logitRows = {0};
  batch.runs = {{0, 1, 0, {compute::KeyRange{.blocks = {0}, .end = 1, .causal = true}}}};
  return bundle.decoder->forward(batch, *store, {});
}

run::SessionConfig withStore(bool isOn) {
  run::SessionConfig config;
  config.blockCount = 8;
  config.store.hostBytes = isOn ? 1 << 20 : 0;
  return config;
}

std::string digestOf(workbench::ModelBundle& bundle) {
  trace::NoSink nobody;
  workbench::makeSession(bundle, withStore(true), nobody);
  return bundle.decoder->weightsDigest();
}

}  // namespace

void TestModelBundle::isOpenedForAContext_data() {
  QTest::addColumn<int>("context");
  QTest::addColumn<qint64>("positions");
  QTest::newRow("its original one") << 0 << qint64{40};
  QTest::newRow("no more than that") << 40 << qint64{40};
  QTest::newRow("a longer one") << 41 << qint64{256};
}

/// The divisors of LongRoPE are in the fingerprint: keys of one context do not fit those of the other.
void TestModelBundle::isOpenedForAContext() {
  QFETCH(int, context);
  QFETCH(qint64, positions);
  const std::filesystem::path phi = SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/phi3_long";
  const auto open = [&phi](int tokens) {
    return workbench::loadModelWeights(phi, test::cpuBackends(), {.threads = 1, .context = tokens});
  };
  const workbench::ModelBundle bundle = open(context);
  QCOMPARE(bundle.config.maxPositions, positions);
  QCOMPARE(bundle.fingerprint == open(0).fingerprint, positions == 40);
}

void TestModelBundle::loadingStops() {
  const auto directory = workbench::bundledModelDirectory();
  std::stop_source stop;
  QVERIFY(workbench::loadModelBundle(directory, test::cpuBackends(),
                                     {.threads = 1, .chat = nullptr, .stop = stop.get_token()})
              .decoder);
  stop.request_stop();
  try {
    workbench::loadModelBundle(directory, test::cpuBackends(),
                               {.threads = 1, .chat = nullptr, .stop = stop.get_token()});
    QFAIL("it was loaded");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().found, worded(std::string("<stop-while-loaded>")));
  }
}

void TestModelBundle::weightsThatAreCutAreAnError_data() {
  QTest::addColumn<double>("part");  ///< of the file that is left
  QTest::addColumn<int>("tensor");   ///< before which it is cut
  for (const double part : {0.0, 0.3, 0.9, 0.99999}) {
    for (const int tensor : {0, 1, 20, 1000}) QTest::addRow("%g before %d", part, tensor) << part << tensor;
  }
}

/// By others, while they are loaded: the last tensor may be read by then, but not all of what is read later.
void TestModelBundle::weightsThatAreCutAreAnError() {
  QFETCH(double, part);
  QFETCH(int, tensor);
  const OwnCopy copy;
  const std::filesystem::path weights = copy.weights();
  const auto left =
      static_cast<std::uintmax_t>(part * static_cast<double>(std::filesystem::file_size(weights)));
  const auto cutBefore = [&](std::size_t read, std::size_t all) {
    if (read == std::min(static_cast<std::size_t>(tensor), all - 1))
      std::filesystem::resize_file(weights, left);
  };
  try {
    workbench::loadModelBundle(copy.directory(), test::cpuBackends(),
                               {.threads = 2, .chat = nullptr, .progress = cutBefore});
    QFAIL("it was loaded");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, weights.string());
    QCOMPARE(failure.error().found, worded(std::string("<file-truncated>")));
  }
}

void TestModelBundle::borrowedWeightsMayNotChange_data() {
  QTest::addColumn<bool>("isCut");
  QTest::newRow("cut") << true;
  QTest::newRow("written to") << false;
}

/// What is computed of a file that others changed meanwhile means nothing; once the weights are the program's
/// own, the file no longer matters.
void TestModelBundle::borrowedWeightsMayNotChange() {
  QFETCH(bool, isCut);
  const OwnCopy copy;
  const auto change = [&] {
    if (isCut)
      std::filesystem::resize_file(copy.weights(), 4096);
    else
      copy.touch();
  };
  const auto load = [&] {
    return workbench::loadModelBundle(copy.directory(), test::cpuBackends(), {.threads = 2, .borrow = true});
  };
  workbench::ModelBundle own = load();
  const std::vector<float> wanted = onePass(own).logits;
  own.decoder->own(std::numeric_limits<std::size_t>::max());
  workbench::ModelBundle borrowed = load();
  QCOMPARE(onePass(borrowed).logits, wanted);
  workbench::ModelBundle fresh = load();
  change();
  for (workbench::ModelBundle* bundle : {&borrowed, &fresh}) {
    for (int time = 0; time < 2; ++time) {
      try {
        onePass(*bundle);
        QFAIL("it computed");
      } catch (const Failure& failure) {
        QCOMPARE(failure.error().file, copy.weights().string());
        QCOMPARE(failure.error().found,
                 worded(std::string(isCut ? "<file-truncated>" : "<file-changed-while>")));
      }
    }
  }
  QCOMPARE(onePass(own).logits, wanted);
}

void TestModelBundle::theDigestIsMadeWhenItIsWanted() {
  const OwnCopy copy;
  const auto load = [&](bool borrow, const run::SessionConfig& session) {
    return workbench::loadModelBundle(copy.directory(), test::cpuBackends(),
                                      {.threads = 2, .session = session, .borrow = borrow});
  };
  workbench::ModelBundle early = load(false, withStore(true));
  const std::string digest = early.decoder->weightsDigest();
  QVERIFY(!digest.empty());
  for (const bool borrow : {false, true}) {
    workbench::ModelBundle late = load(borrow, withStore(false));
    QCOMPARE(late.decoder->weightsDigest(), std::string());
    QCOMPARE(digestOf(late), digest);
  }
  // Another value where the fingerprint does not look makes another digest.
  std::fstream file(copy.weights(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(copy.weights()) / 2 + 777));
  const char old = static_cast<char>(file.peek());
  file.put(static_cast<char>(old ^ 1));
  file.close();
  workbench::ModelBundle changed = load(true, withStore(false));
  QVERIFY(digestOf(changed) != digest);
}

void TestModelBundle::theDigestOfChangedWeightsIsRefused() {
  const OwnCopy copy;
  workbench::ModelBundle bundle =
      workbench::loadModelBundle(copy.directory(), test::cpuBackends(), {.threads = 2});
  copy.touch();
  try {
    digestOf(bundle);
    QFAIL("it has a digest");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, copy.directory().string());
    QCOMPARE(failure.error().found, worded(std::string("<file-changed-since>")));
  }
}

SPANSCOPE_TEST(tst_model_bundle, TestModelBundle, QCoreApplication)
#include "tst_model_bundle.moc"
