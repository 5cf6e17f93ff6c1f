@rem npm start begins with exec, so that the program itself gets the signals sent to npm. A POSIX shell has exec; on
@rem Windows npm finds this file, which runs the rest of the line.
@%*
