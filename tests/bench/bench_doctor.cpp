// SPDX-License-Identifier: GPL-3.0-or-later
// The diagnosis of a large log: processor time, time to the first rows, time of a stop, and memory. Half of
// the requests are turns of agents, and half are questions over documents. The aims for 10,000 requests of
// 5,000 tokens are 30 seconds on two cores, the first rows after 1 second, and a stop within 100 ms. The aim
// for 10,000 requests of 20,000 tokens is 1 GiB.
//
// bench_doctor [requests] [tokens of a request] [stops]
#include "engine/doctor/doctor.h"
#include "ui/session/log_diagnosis.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFileInfo>
#include <QTemporaryDir>

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr std::size_t kTokenBytes = 4;  // of the estimate

double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

long peakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// Writes texts of random words.
class Words {
 public:
  Words() {
    for (int i = 0; i < 4000; ++i) {
      std::string word;
      for (std::size_t size = 2 + m_random() % 8; word.size() < size;)
        word += static_cast<char>('a' + m_random() % 26);
      m_words.push_back(word);
    }
  }
  std::string text(std::size_t tokens) {
    std::string text;
    while (text.size() < tokens * kTokenBytes) text += m_words[m_random() % m_words.size()] + " ";
    return text;
  }

 private:
  std::mt19937 m_random{7};
  std::vector<std::string> m_words;
};

std::string messageOf(const char* role, const std::string& text) {
  return std::string(R"({"role":")") + role + R"(","content":")" + text + "\"}";
}

/// An agent's conversation has 20 turns. Its history grows to twice the mean length.
void writeLog(const std::string& path, std::size_t requests, std::size_t tokens) {
  constexpr std::size_t kTurns = 20;
  std::ofstream file(path, std::ios::binary);
  Words words;
  std::vector<std::string> documents;
  for (int i = 0; i < 400; ++i) documents.push_back(words.text(tokens / 5));
  const std::string tools = words.text(tokens / 5);
  for (std::size_t number = 0; number < requests;) {
    const std::string session = std::to_string(number);
    std::string history;
    for (std::size_t turn = 0; turn < kTurns && number < requests; ++turn, ++number) {
      const std::string minute = std::to_string(10 + number % 50);
      const std::string system = "It is 14:" + minute + ". " + tools;
      history += (turn == 0 ? "" : ",") + messageOf("user", words.text(tokens / 25));
      file << R"({"session_id":")" << session << R"(","model":"m","messages":[)"
           << messageOf("system", turn % 4 == 3 ? system : tools) << "," << history << "]}\n";
      history += "," + messageOf("assistant", words.text(tokens / 20));
      if (++number >= requests) break;
      std::string question = "Use these documents.";
      for (std::size_t i = 0; i < 5; ++i)
        question += R"(\n<document>\n)" + documents[(number * 7 + i * i * 31) % documents.size()] +
                    R"(\n</document>)";
      file << R"({"model":"m","messages":[)" << messageOf("system", "Be brief.") << ","
           << messageOf("user", question + R"(\n)" + words.text(12)) << "]}\n";
    }
  }
}

/// Runs the event loop until the diagnosis is in this state.
template <class IsThere>
void wait(const ui::LogDiagnosis& log, const IsThere& isThere) {
  QEventLoop loop;
  const auto look = [&] {
    if (isThere()) loop.quit();
  };
  QObject::connect(&log, &ui::LogDiagnosis::changed, &loop, look);
  if (!isThere()) loop.exec();
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  const auto number = [&](int index, std::size_t standard) {
    return argc > index ? static_cast<std::size_t>(std::strtoul(argv[index], nullptr, 10)) : standard;
  };
  const std::size_t requests = number(1, 10'000);
  const std::size_t tokens = number(2, 5'000);
  const std::size_t stops = number(3, 12);
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("log.jsonl"));
  writeLog(path.toStdString(), requests, tokens);
  std::printf("log: %zu requests of %zu tokens, %.0f MB; %ld MiB in use\n", requests, tokens,
              static_cast<double>(QFileInfo(path).size()) / 1e6, peakMebibytes());

  ui::LogDiagnosis log;
  ui::LogSettings settings;
  settings.model.clear();
  log.setSettings(settings);
  const double begin = processorSeconds();
  QElapsedTimer clock;
  clock.start();
  log.open({path});
  wait(log, [&] { return !log.state()->report->requests.empty(); });
  std::printf("first rows: %lld ms\n", static_cast<long long>(clock.elapsed()));
  double edits = 0;
  double documents = 0;
  wait(log, [&] {
    const double now = static_cast<double>(clock.elapsed()) / 1000;
    if (edits == 0 && log.state()->stage == ui::LogState::Stage::Edits) edits = now;
    if (documents == 0 && log.state()->stage == ui::LogState::Stage::Documents) documents = now;
    return !log.state()->isRunning();
  });
  const doctor::LogReport& report = *log.state()->report;
  std::printf("diagnosis: %.1f s, %.1f s on processors; edits after %.1f s, documents after %.1f s\n",
              static_cast<double>(clock.elapsed()) / 1000, processorSeconds() - begin, edits, documents);
  std::printf("prompts: %.0f tokens in the mean; lost: %.0f %%; peak: %ld MiB\n",
              static_cast<double>(report.prompt) / static_cast<double>(std::max<std::size_t>(1, requests)),
              100 * report.lostShare(), peakMebibytes());

  const double whole = static_cast<double>(clock.elapsed());
  std::vector<qint64> delays;
  for (std::size_t i = 0; i < stops; ++i) {
    const auto pause =
        static_cast<qint64>(whole * (static_cast<double>(i) + 0.5) / static_cast<double>(stops));
    clock.start();
    log.open({path});
    wait(log, [&] { return clock.elapsed() >= pause || !log.state()->isRunning(); });
    if (!log.state()->isRunning()) continue;
    clock.start();
    log.stop();
    wait(log, [&] { return !log.state()->isRunning(); });
    delays.push_back(clock.elapsed());
  }
  if (delays.empty()) return EXIT_SUCCESS;
  std::sort(delays.begin(), delays.end());
  std::printf("%zu stops: median %lld ms, longest %lld ms\n", delays.size(),
              static_cast<long long>(delays[delays.size() / 2]), static_cast<long long>(delays.back()));
  return EXIT_SUCCESS;
}
