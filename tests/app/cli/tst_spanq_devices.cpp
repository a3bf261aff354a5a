// SPDX-License-Identifier: GPL-3.0-or-later
// The command line on a machine with two cards.
#include "app/cli/cli.h"
#include "tests/support/test_program.h"
#include "tests/support/two_cards.h"

#include <QTest>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace spanscope;

class TestSpanqDevices : public QObject {
  Q_OBJECT

 private:
  std::shared_ptr<std::vector<int>> m_made = std::make_shared<std::vector<int>>();
  std::string m_out;
  std::string m_err;

  int run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "spanq");
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const int code =
        cli::runCli(static_cast<int>(arguments.size()), arguments.data(),
                    {.in = in, .out = out, .err = err, .canAsk = false}, test::twoCards(m_made), {});
    m_out = out.str();
    m_err = err.str();
    return code;
  }

 private Q_SLOTS:
  void eachIsListed() {
    QCOMPARE(run({"devices"}), 0);
    for (const char* text : {"cuda:0", "Large Card", "141.0 GiB", "cuda:1", "Small Card", "40.0 GiB"})
      QVERIFY2(m_out.find(text) != std::string::npos, m_out.c_str());
  }

  void eachIsChosenByItsName_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("index");
    QTest::newRow("the kind") << "cuda" << 0;
    QTest::newRow("the first") << "cuda:0" << 0;
    QTest::newRow("the second") << "cuda:1" << 1;
  }
  void eachIsChosenByItsName() {
    QFETCH(const QString, name);
    QFETCH(const int, index);
    m_made->clear();
    const std::string device = name.toStdString();
    QCOMPARE(run({"run", "--device", device.c_str(), SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json"}), 0);
    QCOMPARE(*m_made, std::vector<int>{index});
  }

  void theHelpSaysHow() {
    QCOMPARE(run({"run", "--help"}), 0);
    QVERIFY2(m_out.find("cuda:1") != std::string::npos, m_out.c_str());
  }

  void othersAreRefusedWithTheNamesThereAre() {
    QCOMPARE(run({"run", "--device", "cuda:2", SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json"}), 1);
    QVERIFY2(m_err.find("one of auto, cpu, cuda:0, cuda:1") != std::string::npos, m_err.c_str());
  }
};

SPANSCOPE_TEST(tst_spanq_devices, TestSpanqDevices, QCoreApplication)
#include "tst_spanq_devices.moc"
