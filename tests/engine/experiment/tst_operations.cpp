// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/experiment/operations.h"
#include "engine/model/weights.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::experiment;
using spanscope::product_text::worded;

namespace {

compute::MachineRates slowMachine() {
  return {.flops = 1e9, .bytesPerSecond = 1e9};
}

}  // namespace

class TestOperations : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theScarcerOfTheTwoBounds() {
    OperationResult result;
    result.machine = {.flops = 100, .bytesPerSecond = 10};
    result.seconds = summarize({2, 2, 2});
    result.work = {.flops = 100, .bytes = 5};
    QVERIFY(result.isBoundByArithmetic());
    QCOMPARE(result.share(), 0.5);
    result.work.bytes = 15;
    QVERIFY(!result.isBoundByArithmetic());
    QCOMPARE(result.share(), 0.75);
    QCOMPARE(result.flopsPerSecond(), 50.0);
    QCOMPARE(result.bytesPerSecond(), 7.5);
  }

  void everyOperationIsMeasuredOnEveryDevice() {
    OperationOptions options;
    options.rows = {1, 3};
    options.depths = {20};
    options.repeats = 1;
    for (const std::string& device : test::presentDevices()) {
      const auto backend = test::makeBackend(device, 1);
      std::set<std::string> names;
      const auto take = [&names](const OperationResult& result) {
        names.insert(result.name);
        QVERIFY2(result.seconds.median > 0 && result.share() > 0, result.name.c_str());
      };
      measureOperations(*backend, model::namedShape("3m"), options, slowMachine, take, {});
      for (const char* what :
           {"matmul query", "matmul key", "matmul output", "matmul gate", "matmul down", "matmul logits",
            "rms norm", "silu and product", "<store-keys-values>", "sample greedy"}) {
        QVERIFY2(names.contains(worded(std::string(what)) + " M=1"), what);
        QVERIFY2(names.contains(worded(std::string(what)) + " M=3"), what);
      }
      QVERIFY(names.contains("attend M=3 depth 20"));
    }
  }

  void stops() {
    std::stop_source stop;
    stop.request_stop();
    const auto backend = test::makeBackend("cpu", 1);
    const auto measure = [&] {
      measureOperations(
          *backend, model::namedShape("3m"), {}, slowMachine, [](const OperationResult&) {},
          stop.get_token());
    };
    QVERIFY_EXCEPTION_THROWN(measure(), Failure);
  }
};

SPANSCOPE_TEST(tst_operations, TestOperations, QCoreApplication)
#include "tst_operations.moc"
