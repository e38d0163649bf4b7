function balance_tcp(port)
% A controller over TCP that balances a pole on a cart, for MATLAB and Octave.
%
%   octave-cli --eval 'balance_tcp(47204)'      in MATLAB: balance_tcp(47204); the port of the device in the scenario
%
% The bench listens; we connect, and again for its next run. cart_messages.m is made by
% 'limberjack messages balance_octave.yaml -o cart_messages.m'. What is no newer message is counted and not answered.
% It ends after IDLE seconds without a bench. Octave needs its package instrument-control.
if exist('OCTAVE_VERSION', 'builtin')
    pkg load instrument-control
    sigterm_dumps_octave_core(false) % the bench ends us by SIGTERM
end
IDLE = 60;
fprintf('ready\n');
heard = tic;
while toc(heard) < IDLE
    try
        link = tcpclient('127.0.0.1', port, 'Timeout', 0.1);
    catch % nobody listens yet
        pause(0.1)
        continue
    end
    serve(link, IDLE);
    clear link
    heard = tic;
end
fprintf('no bench any more\n');
end

function serve(link, idle)
% Answer until the bench has left, or says nothing any more.
m = cart_messages();
commands = m.commands;
last = [];
rest = uint8([]);
counts = [0, 0];
heard = tic;
while toc(heard) < idle
    try
        bytes = read(link, max(1, link.NumBytesAvailable)); % waits for the first byte until the time-out
    catch % the bench has closed the connection
        break
    end
    if isempty(bytes)
        continue
    end
    heard = tic;
    rest = [rest, bytes];
    now = [];
    while true % the newest counts: in real time we may be slower than the bench
        [message, rest] = m.next(rest);
        if isempty(message)
            break
        end
        [came, why] = m.unpack(message);
        if isempty(why) && m.newer(came, last)
            if isempty(last) || came.session ~= last.session % the bench begins a run
                law = [];
            end
            now = came;
            last = came;
        else
            counts(2) = counts(2) + 1;
        end
    end
    if ~isempty(now)
        [commands, law] = control(law, now, commands);
        [answer, commands] = m.pack(commands, now);
        write(link, answer);
        counts(1) = counts(1) + 1;
    end
end
fprintf('%d answered, %d refused\n', counts);
end

function [commands, law] = control(law, now, commands)
% Commands from signals. Time is the bench's: messages may have been lost on the way.
if isempty(law)
    law = struct('target', 0, 'last', 0);
end
step = 0.2 * (now.time - law.last); % the target moves at 0.2 m/s to its goal at 0.5 m
law.last = now.time;
law.target = law.target + min(max(0.5 - law.target, -step), step);
force = 10.0 * (now.q_cart - law.target) + 63.5 * now.q_pole + 10.8 * now.v_cart + 14.6 * now.v_pole;
commands.drive = min(max(force, -20), 20);
end
