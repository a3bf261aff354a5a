// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/backends.h"
#include "kernels/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>
#include <string>

using namespace spanscope;

class TestDeviceKinds : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_data() {
    QTest::addColumn<QString>("device");
    QTest::addColumn<QString>("kind");
    const auto row = [](const char* device, const char* kind) { QTest::newRow(device) << device << kind; };
    row("cpu", "cpu");
    row("cuda", "cuda");
    row("cuda:0", "cuda");
    row("cuda:12", "cuda");
    row("cpu:0", "");
    row("cuda:", "");
    row("cuda:x", "");
    row("cuda:1234", "");
    row("auto", "");
    row("auto:1", "");
    row("tpu", "");
  }
  void names() {
    QFETCH(QString, device);
    QFETCH(QString, kind);
    const compute::DeviceKind* found = compute::deviceKindOf(device.toStdString());
    QCOMPARE(QString::fromLatin1(found == nullptr ? "" : found->name), kind);
  }

  /// Whatever a program has can be named in documents, and is what its row says.
  void theRegistryHasNoOthers() {
    std::set<std::string> seen;
    for (const compute::BackendKind& kind : programBackends().kinds()) {
      const compute::DeviceKind* known = compute::deviceKindOf(kind.name);
      QVERIFY2(known != nullptr, kind.name.c_str());
      QVERIFY(*known->label != '\0');
      QVERIFY(seen.insert(kind.name).second);
      if (!known->isAlwaysThere) continue;
      QCOMPARE(kind.probe().size(), std::size_t{1});
      QVERIFY(kind.probe().front().isUsable());
      QCOMPARE(kind.make({})->info().rowsAreBitEqual, known->rowsAreBitEqual);
    }
    QCOMPARE(seen.size(), compute::kDeviceKinds.size());
  }
};

SPANSCOPE_TEST(tst_device_kinds, TestDeviceKinds)
#include "tst_device_kinds.moc"
