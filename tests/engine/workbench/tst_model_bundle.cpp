// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <stop_token>

using namespace spanscope;

class TestModelBundle : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void loadingStops();
  void weightsThatAreCutAreAnError_data();
  void weightsThatAreCutAreAnError();
  void isOpenedForAContext_data();
  void isOpenedForAContext();
};

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
    QCOMPARE(failure.error().found, std::string("a stop while it was loaded"));
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
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  std::filesystem::copy(
      workbench::bundledModelDirectory(), directory,
      std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive);
  const std::filesystem::path weights = directory / "model.safetensors";
  const auto left =
      static_cast<std::uintmax_t>(part * static_cast<double>(std::filesystem::file_size(weights)));
  const auto cutBefore = [&](std::size_t read, std::size_t all) {
    if (read == std::min(static_cast<std::size_t>(tensor), all - 1))
      std::filesystem::resize_file(weights, left);
  };
  try {
    workbench::loadModelBundle(directory, test::cpuBackends(),
                               {.threads = 2, .chat = nullptr, .progress = cutBefore});
    QFAIL("it was loaded");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, weights.string());
    QCOMPARE(failure.error().found, std::string("a file that was cut while it was read"));
  }
}

SPANSCOPE_TEST(tst_model_bundle, TestModelBundle, QCoreApplication)
#include "tst_model_bundle.moc"
