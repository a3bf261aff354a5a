// SPDX-License-Identifier: GPL-3.0-or-later
// Every view paints random traces at every size, and each painting ends.
#include "engine/policy/policies.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document_query.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/view.h"

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QTest>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// Ends the test program, naming what it waited for, if nothing new begins for a minute.
class Watch {
 public:
  Watch() : m_thread([this] { wait(); }) {}
  ~Watch() {
    {
      const std::lock_guard lock(m_mutex);
      m_isOver = true;
    }
    m_wake.notify_one();
    m_thread.join();
  }
  void begin(const QString& what) {
    const std::lock_guard lock(m_mutex);
    m_what = what;
    ++m_begun;
  }

 private:
  void wait() {
    std::unique_lock lock(m_mutex);
    while (!m_isOver) {
      const std::size_t before = m_begun;
      m_wake.wait_for(lock, std::chrono::seconds(60), [this] { return m_isOver; });
      if (!m_isOver && m_begun == before) qFatal("does not end: %s", qPrintable(m_what));
    }
  }

  std::mutex m_mutex;
  std::condition_variable m_wake;
  QString m_what;
  std::size_t m_begun = 0;
  bool m_isOver = false;
  std::thread m_thread;
};

std::string words(std::mt19937& random, std::size_t most) {
  std::string text;
  const std::size_t count = 1 + random() % most;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? " word" : "Word") + std::to_string(random() % 9);
  return text;
}

/// Random documents, some of them long, and a question.
document::Document randomQuery(std::mt19937& random) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  const std::size_t documents = 1 + random() % 12;
  for (std::size_t i = 0; i < documents; ++i) {
    const std::size_t most = random() % 3 == 0 ? 60 : 8;
    plus.children.push_back({query::Message{.role = query::Role::User, .text = words(random, most)}});
  }
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back({query::Message{.role = query::Role::System, .text = words(random, 5)}});
  cross.children.push_back({plus});
  cross.children.push_back({query::Message{.role = query::Role::User, .text = words(random, 9)}});
  return document::fromQuery({query::Generate{
      .settings = {.model = "spanlet", .maxTokens = 3, .temperature = 0.0F}, .input = query::Node{cross}}});
}

}  // namespace

class TestAnySize : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    test::RunRecorder rag;
    rag.run(test::exampleDocument("rag.json"));
    rag.run(test::exampleDocument("rag.json"));
    m_runs.push_back(rag.recorded());
    std::mt19937 random(7);
    const auto policies = policy::policies();
    for (int trace = 0; trace < 3; ++trace) {
      test::RunRecorder recorder;
      const document::Document document = randomQuery(random);
      for (int run = 0; run < 2; ++run)
        recorder.run(run == 0 ? document : test::swapped(document), *policies[random() % policies.size()]);
      m_runs.push_back(recorder.recorded());
    }
  }

  void everyPaintingEnds_data() {
    QTest::addColumn<QString>("id");
    for (const ViewInfo& info : viewTable()) QTest::newRow(qPrintable(info.id)) << info.id;
  }

  void everyPaintingEnds() {
    QFETCH(QString, id);
    const auto info = std::find_if(viewTable().begin(), viewTable().end(),
                                   [&id](const ViewInfo& each) { return each.id == id; });
    std::vector<QSize> sizes{{1, 1}, {4, 3}, {24, 600}, {900, 18}, {300, 200}, {660, 440}};
    std::mt19937 random(11);
    for (int i = 0; i < 8; ++i)
      sizes.emplace_back(20 + static_cast<int>(random() % 900), 10 + static_cast<int>(random() % 500));
    Watch watch;
    for (std::size_t run = 0; run < m_runs.size(); ++run) {
      DocumentModel model(*m_runs[run].document);
      const std::unique_ptr<View> view(info->make(nullptr));
      view->setAttribute(Qt::WA_DontShowOnScreen);
      view->setModel(&model);
      const std::size_t events = m_runs[run].events.size();
      view->show();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const QSize& size = sizes[i];
        watch.begin(QStringLiteral("%1 with trace %2 at %3 × %4")
                        .arg(id)
                        .arg(run)
                        .arg(size.width())
                        .arg(size.height()));
        // Mostly the whole trace, and sometimes a part of it.
        view->setInput(m_runs[run].input(i % 4 == 3 ? random() % events : events));
        view->resize(size);
        QCoreApplication::processEvents();
        QImage image(size, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::transparent);
        view->render(&image);
        QPainter painter(&image);
        view->paintTo(painter, size);
      }
    }
  }

 private:
  std::vector<test::Recorded> m_runs;
};

SPANSCOPE_TEST(tst_any_size, TestAnySize, QApplication)
#include "tst_any_size.moc"
