// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::compute;
using spanscope::product_text::worded;

namespace {

/// A kind with these devices, each "name" or "name: why it cannot be used".
BackendKind kindOf(const std::string& name, const std::vector<std::string>& devices) {
  std::vector<Device> list;
  for (const std::string& text : devices) {
    const std::size_t colon = text.find(": ");
    Device& device = list.emplace_back();
    device.name = text.substr(0, colon);
    if (colon != std::string::npos) device.reason = text.substr(colon + 2);
  }
  return {.name = name,
          .probe = [list] { return list; },
          .make = [](const BackendOptions&) { return std::make_unique<testing::ReferenceBackend>(); },
          .meter = {}};
}

Backends someBackends() {
  return Backends({kindOf("gpu", {"gpu:0: too old", "gpu:1", "gpu:2"}), absentKind("npu", "not built in"),
                   kindOf("cpu", {"cpu"})});
}

std::string refusal(const Backends& backends, std::string_view name) {
  try {
    backends.choose(name);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestBackends : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void choosesTheFirstThatCanBeUsed() {
    const ChosenDevice chosen = someBackends().choose();
    QCOMPARE(chosen.device.name, std::string("gpu:1"));
    QCOMPARE(chosen.index, 1);
    QCOMPARE(chosen.kind.name, std::string("gpu"));
  }

  void choosesByName() {
    QCOMPARE(someBackends().choose("gpu:2").index, 2);
    QCOMPARE(someBackends().choose("cpu").kind.name, std::string("cpu"));
  }

  void saysWhatThereIs() {
    QCOMPARE(
        refusal(someBackends(), "tpu"),
        std::string("device: Spanscope found \"tpu\", but needs one of auto, gpu:0, gpu:1, gpu:2, npu, cpu"));
    QCOMPARE(refusal(Backends(), "auto"),
             worded(std::string("device: Spanscope found <none-can-used>, but needs <can-compute>")));
  }

  void saysWhyADeviceCannotBeUsed() {
    const std::string expected = worded(std::string(", but needs <device-can-used>"));
    QCOMPARE(refusal(someBackends(), "gpu"), "device: Spanscope found gpu:0 (too old)" + expected);
    QCOMPARE(refusal(someBackends(), "npu"), "device: Spanscope found npu (not built in)" + expected);
    QVERIFY_EXCEPTION_THROWN(someBackends().kinds()[1].make({}), Failure);
  }

  /// The same as choose() says, of devices that were found before.
  void knowsTheReasonOfAName() {
    const Backends backends = someBackends();
    const std::vector<Device> devices = backends.devices();
    for (const char* name : {"auto", "gpu", "gpu:0", "gpu:1", "gpu:2", "gpu:3", "npu", "cpu", "tpu", "gp"})
      QVERIFY2(reasonOf(devices, name).empty() == refusal(backends, name).empty(), name);
    QCOMPARE(reasonOf(devices, "gpu"), std::string("too old"));
    QCOMPARE(reasonOf(devices, "npu"), std::string("not built in"));
    QCOMPARE(reasonOf(devices, "npu:1"), std::string("not built in"));
    QCOMPARE(reasonOf({devices[0]}, "auto"), worded(std::string("<none-can-used-backends>")));
    QCOMPARE(reasonOf(devices, "tpu"), worded(std::string("<none-name>")));
  }

  void listsAllDevices() {
    const std::vector<Device> devices = someBackends().devices();
    QCOMPARE(devices.size(), std::size_t{5});
    QVERIFY(!devices[0].isUsable() && devices[1].isUsable() && !devices[3].isUsable());
    QCOMPARE(devices[3].reason, std::string("not built in"));
  }

  void aKindIsOpenedWhenItIsAskedFor() {
    int opened = 0;
    BackendKind late = kindOf("late", {"late"});
    late.rowsPerPass = 7;
    const Backends backends({kindOf("cpu", {"cpu"}), KindEntry("late", [&] {
                               ++opened;
                               return late;
                             })});
    const Backends copy = backends;
    QCOMPARE(backends.entries().back().name(), std::string("late"));
    QCOMPARE(backends.choose().kind.name, std::string("cpu"));
    QCOMPARE(opened, 0);
    QCOMPARE(copy.choose("late").kind.rowsPerPass, 7);
    QCOMPARE(backends.devices().size(), std::size_t{2});
    QCOMPARE(backends.kinds().back().rowsPerPass, 7);
    QCOMPARE(opened, 1);
  }

  /// What is found out about a device by taking it into use is found out about the one that is chosen.
  void theChosenDeviceIsOpened() {
    BackendKind cards = kindOf("gpu", {"gpu:0", "gpu:1: too old", "gpu:2"});
    std::vector<int> asked;
    cards.freeBytes = [&](int device) -> std::uint64_t {
      asked.push_back(device);
      if (device == 0) throw Failure({.file = {}, .place = "context", .found = "busy", .expected = "none"});
      return 77;
    };
    const Backends backends({cards});
    QCOMPARE(backends.devices().front().memoryBytes, std::uint64_t{0});
    QVERIFY(asked.empty());
    QCOMPARE(backends.choose("gpu:2").device.memoryBytes, std::uint64_t{77});
    QCOMPARE(asked, std::vector<int>{2});
    QCOMPARE(
        refusal(backends, "gpu"),
        worded(std::string("device: Spanscope found gpu:0 (context: busy), but needs <device-can-used>")));
    QCOMPARE(backends.choose().index, 2);
    QCOMPARE(asked, (std::vector<int>{2, 0, 0, 2}));
  }

  /// What every program has: the processor, and a word on what is not there.
  void programsHaveTheProcessor() {
    const Backends backends = programBackends();
    const ChosenDevice cpu = backends.choose("cpu");
    QVERIFY(!cpu.device.description.empty());
    QVERIFY(cpu.device.memoryBytes > (1U << 28U));
    QVERIFY(backends.choose().device.isUsable());
    for (const std::string& name : test::presentDevices()) {
      const auto backend = test::makeBackend(name, 1);
      QVERIFY(!backend->info().name.empty());
      QVERIFY(!backend->info().numericRevision.empty());
    }
    for (const Device& device : backends.devices()) QVERIFY(device.isUsable() || device.name != "cpu");
  }
};

SPANSCOPE_TEST(tst_backends, TestBackends)
#include "tst_backends.moc"
