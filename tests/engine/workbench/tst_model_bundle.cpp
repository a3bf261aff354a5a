// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <stop_token>

using namespace spanscope;

class TestModelBundle : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void loadingStops();
};

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

SPANSCOPE_TEST(tst_model_bundle, TestModelBundle, QCoreApplication)
#include "tst_model_bundle.moc"
