// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/support/two_cards.h"
#include "ui/session/model_choices.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

using Devices = std::vector<compute::Device>;

/// A line each, "name|text", with a star after the document's.
QStringList linesOf(const Devices* known, const std::string& current) {
  QStringList lines;
  for (const DeviceChoice& choice : deviceChoices(known, current)) {
    // What the processor is depends on the machine.
    const QString text = choice.name == QStringLiteral("cpu") ? QString() : choice.text;
    lines += choice.name + QLatin1Char('|') + text + (choice.isCurrent ? QStringLiteral(" *") : QString());
  }
  return lines;
}

}  // namespace

class TestDeviceChoices : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eachCardByItsName() {
    const Devices known = test::twoCards().devices();
    const QString first = worded("auto|<first-can-used>");
    const QString large = QStringLiteral("cuda:0|cuda:0: Large Card, compute capability 9.0, 141.0 GiB");
    const QString small = QStringLiteral("cuda:1|cuda:1: Small Card, compute capability 8.0, 40.0 GiB");
    QCOMPARE(linesOf(&known, "cuda:1"),
             QStringList({first, QStringLiteral("cpu|"), large, small + QStringLiteral(" *")}));
    // A document may go on to name the kind.
    QCOMPARE(linesOf(&known, "cuda"), QStringList({first, QStringLiteral("cpu|"), large, small,
                                                   QStringLiteral("cuda|NVIDIA GPU (CUDA) *")}));
  }

  void whatIsNotThereIsOfferedWhereItWasChosen() {
    Devices known = test::twoCards().devices();
    QCOMPARE(linesOf(&known, "cuda:7").back(), worded("cuda:7|cuda:7: cannot be used, <none-name> *"));
    known[1].reason = "no driver";
    QCOMPARE(linesOf(&known, "auto").size(), 3);
    QCOMPARE(linesOf(&known, "cuda:0").back(), QStringLiteral("cuda:0|cuda:0: cannot be used, no driver *"));
    QCOMPARE(linesOf(&known, "cuda").back(),
             QStringLiteral("cuda|NVIDIA GPU (CUDA): cannot be used, no driver *"));
  }

  void namesWhereNothingIsKnown() {
    QCOMPARE(linesOf(nullptr, "cuda:1"),
             QStringList({worded("auto|<first-can-used>"), QStringLiteral("cpu|"),
                          QStringLiteral("cuda|NVIDIA GPU (CUDA)"), QStringLiteral("cuda:1|cuda:1 *")}));
  }
};

SPANSCOPE_TEST(tst_device_choices, TestDeviceChoices, QCoreApplication)
#include "tst_device_choices.moc"
